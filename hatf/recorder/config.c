/* SPDX-License-Identifier: MIT */
/* config.c - see config.h */

#include "hatf/recorder/config.h"

#include "hatf/deflate/deflate.h"

#include <stddef.h>
#include <string.h>

#define NS_PER_SEC 1000000000ull

/*
 * The default size of the ring of the initial thread, in words.  In many
 * programs this thread does all the work, so the ring is large.  The thread can
 * then go on while the writer thread waits for a processor.
 */
#define INITIAL_RING_WORDS ((4ull << 20) / sizeof(uint64_t))
#define ALL_RING_WORDS	   ((16ull << 20) / sizeof(uint64_t))
#define RING_NBYTES_MIN	   (4ull << 10) /* room for at least 85 events */
#define RING_NBYTES_MAX	   (1ull << 30)

/* In a shorter segment the header would be most of the file. */
#define ROTATE_NBYTES_MIN     (64ull << 10)
#define ROTATE_NBYTES_DEFAULT (64ull << 20)
/* This many hours in nanoseconds, or GiB in bytes, still fit in 64 bits. */
#define AMOUNT_MAX 1000000ull
/*
 * If HATFTRACE_KEEP is a number of bytes and HATFTRACE_ROTATE gives no size, a
 * segment has at most 1 / KEEP_SEGMENTS of these bytes, but may always have
 * ROTATE_NBYTES_MIN.
 */
#define KEEP_SEGMENTS  8
#define KEEP_COUNT_MAX 4096

static const char *const clock_names[] = {
	[CONFIG_CLOCK_AUTO] = "auto",	  [CONFIG_CLOCK_OFF] = "off",
	[CONFIG_CLOCK_COARSE] = "coarse", [CONFIG_CLOCK_US] = "us",
	[CONFIG_CLOCK_NS] = "ns",
};

const char *
config_clock_name(enum config_clock clock)
{
	return clock_names[clock];
}

static bool
set_out(struct config *c, const char *value)
{
	const size_t n = strlen(value);

	if (n == 0 || n >= sizeof(c->out))
		return false;
	memcpy(c->out, value, n + 1);
	for (const char *p = strchr(value, '%'); p != NULL;
	     p = strchr(p + 2, '%'))
		if (p[1] == '\0' || strchr("pehns%", p[1]) == NULL ||
		    (p[1] == 's' && strchr(p, '/') != NULL))
			return false;
	return true;
}

static bool
set_clock(struct config *c, const char *value)
{
	for (unsigned i = 0; i <= CONFIG_CLOCK_NS; i++) {
		if (strcmp(value, clock_names[i]) == 0) {
			c->clock = (enum config_clock)i;
			return true;
		}
	}
	return false;
}

static bool
set_compress(struct config *c, const char *value)
{
	if (strcmp(value, "none") == 0) {
		c->level = 0;
		return true;
	}
	if (strncmp(value, "gzip", 4) != 0)
		return false;
	if (value[4] == '\0') {
		c->level = DEFLATE_LEVEL_DEFAULT;
		return true;
	}
	if (value[4] != ':' || value[5] < '0' + DEFLATE_LEVEL_MIN ||
	    value[5] > '0' + DEFLATE_LEVEL_MAX || value[6] != '\0')
		return false;
	c->level = value[5] - '0';
	return true;
}

static bool
set_full(struct config *c, const char *value)
{
	c->drop = strcmp(value, "drop") == 0;
	return c->drop || strcmp(value, "wait") == 0;
}

/*
 * Read a number of at most 12 digits at '*value', and advance '*value' past the
 * digits.  Return false if there is no digit.
 */
static bool
take_number(const char **value, uint64_t *n_ret)
{
	unsigned digits = 0;

	*n_ret = 0;
	for (; **value >= '0' && **value <= '9' && digits < 12; digits++)
		*n_ret = *n_ret * 10 + (uint64_t)(*(*value)++ - '0');
	return digits != 0;
}

/*
 * Return the exponent of the power of two that the suffix of a size stands for;
 * 0 if the suffix is unknown.
 */
static unsigned
size_shift(char suffix)
{
	switch (suffix) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return 0;
	}
}

static bool
set_buffer(struct config *c, const char *value)
{
	uint64_t n;

	if (!take_number(&value, &n))
		return false;

	const unsigned shift = size_shift(*value);

	if (shift != 0)
		value++;
	/* This bound also keeps the shift below from overflowing. */
	if (n > RING_NBYTES_MAX)
		return false;
	n <<= shift;
	if (*value != '\0' || n < RING_NBYTES_MIN || n > RING_NBYTES_MAX)
		return false;
	/*
	 * Round down to a power of two, because the ring must not be larger
	 * than requested.
	 */
	c->ring_words = 1;
	while (c->ring_words * 2 * sizeof(uint64_t) <= n)
		c->ring_words *= 2;
	c->initial_ring_words = c->ring_words;
	c->all_ring_words = UINT64_MAX;
	return true;
}

/*
 * Return 'n' seconds, minutes or hours (as 'suffix' says) in nanoseconds; 0 if
 * the suffix is invalid.
 */
static uint64_t
time_ns(uint64_t n, char suffix)
{
	switch (suffix) {
	case 's':
		return n * NS_PER_SEC;
	case 'm':
		return n * 60 * NS_PER_SEC;
	case 'h':
		return n * 3600 * NS_PER_SEC;
	default:
		return 0;
	}
}

/*
 * Parse the value of HATFTRACE_ROTATE: "off", a size, a time, or a size and a
 * time separated by a comma, in either order.
 */
static bool
set_rotate(struct config *c, const char *value)
{
	uint64_t n;

	c->rotate_nbytes = c->rotate_ns = 0;
	if (strcmp(value, "off") == 0)
		return true;
	for (;;) {
		if (!take_number(&value, &n) || n == 0 || n > AMOUNT_MAX)
			return false;

		const unsigned shift = size_shift(*value);
		const uint64_t ns = time_ns(n, *value);

		if (shift != 0 && c->rotate_nbytes == 0)
			c->rotate_nbytes = n << shift;
		else if (ns != 0 && c->rotate_ns == 0)
			c->rotate_ns = ns;
		else
			return false;
		if (*++value == '\0')
			break;
		if (*value++ != ',')
			return false;
	}
	return c->rotate_nbytes == 0 || c->rotate_nbytes >= ROTATE_NBYTES_MIN;
}

/*
 * Parse the value of HATFTRACE_KEEP: "all", a number of segments, or a number
 * of KiB, MiB or GiB with the suffix K, M or G.
 */
static bool
set_keep(struct config *c, const char *value)
{
	uint64_t n;

	c->keep_count = c->keep_nbytes = 0;
	if (strcmp(value, "all") == 0)
		return true;
	if (!take_number(&value, &n) || n > AMOUNT_MAX)
		return false;

	const unsigned shift = size_shift(*value);

	if (shift == 0) {
		c->keep_count = n;
		return *value == '\0' && n >= 2 && n <= KEEP_COUNT_MAX;
	}
	c->keep_nbytes = n << shift;
	return value[1] == '\0' && c->keep_nbytes >= 2 * ROTATE_NBYTES_MIN;
}

/*
 * Limit the size of segments if HATFTRACE_KEEP requires a limit.  If
 * HATFTRACE_KEEP gives a number of bytes, the current segment and at least one
 * older one must fit into these bytes.
 */
static void
bound_segments(struct config *c)
{
	if (c->keep_nbytes != 0) {
		const uint64_t most = c->rotate_nbytes != 0
					      ? c->keep_nbytes / 2
					      : c->keep_nbytes / KEEP_SEGMENTS;

		if (c->rotate_nbytes == 0 || c->rotate_nbytes > most)
			c->rotate_nbytes = most > ROTATE_NBYTES_MIN
						   ? most
						   : ROTATE_NBYTES_MIN;
	} else if (c->keep_count != 0 && c->rotate_nbytes == 0 &&
		   c->rotate_ns == 0) {
		c->rotate_nbytes = ROTATE_NBYTES_DEFAULT;
	}
}

static bool
set_verbose(struct config *c, const char *value)
{
	c->verbose = strcmp(value, "1") == 0;
	return c->verbose || strcmp(value, "0") == 0;
}

static bool
set_rings(struct config *c, const char *value)
{
	static const char *const words[] = { "beside", "none" };
	const size_t n = strlen(value);

	for (unsigned i = 0; i < 2; i++)
		if (strcmp(value, words[i]) == 0) {
			c->rings = words[i];
			return true;
		}
	if (n >= sizeof(c->rings_folder) - 1 || strchr(value, '/') == NULL)
		return false;
	memcpy(c->rings_folder, value, n + 1);
	c->rings = c->rings_folder;
	return true;
}

static bool
set_follow(struct config *c, const char *value)
{
	c->follow.globs = c->globs;
	return follow_parse(&c->follow, value);
}

static bool
set_switch(bool *on, const char *value)
{
	*on = strcmp(value, "on") == 0;
	return *on || strcmp(value, "off") == 0;
}

static bool
set_start(struct config *c, const char *value)
{
	return set_switch(&c->start, value);
}

static bool
set_control(struct config *c, const char *value)
{
	return set_switch(&c->control, value);
}

static bool
set_begin(struct config *c, const char *value)
{
	c->begin_now = strcmp(value, "now") == 0;
	return c->begin_now || strcmp(value, "late") == 0;
}

/* Words that HATFTRACE_STACKS accepts instead of a number of frames. */
static const struct {
	const char *word;
	uint32_t depth;
} stack_words[] = {
	{ "off", 0 },
	{ "caller", 1 },
	{ "on", CONFIG_STACK_DEPTH_MAX },
};

static bool
set_stacks(struct config *c, const char *value)
{
	const char *end = strchr(value, ':');
	size_t n = end != NULL ? (size_t)(end - value) : strlen(value);
	uint64_t depth;

	c->stack_frees = end != NULL;
	if (end != NULL && strcmp(end, ":frees") != 0)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		if (strncmp(value, stack_words[i].word, n) == 0 &&
		    stack_words[i].word[n] == '\0' && n != 0) {
			c->stack_depth = stack_words[i].depth;
			return c->stack_depth != 0 || end == NULL;
		}
	}
	c->stack_depth = 0;
	if (!take_number(&value, &depth) || (*value != '\0' && value != end))
		return false;
	c->stack_depth = (uint32_t)depth;
	return depth >= 1 && depth <= CONFIG_STACK_DEPTH_MAX;
}

/*
 * Check the value of HATFTRACE_NOTES, but do not store the value, because
 * preload/config/note_writer.c reads the variable itself.
 */
static bool
set_notes(struct config *c, const char *value)
{
	(void)c;
	return value[0] == '/' || strcmp(value, "none") == 0;
}

/* All variables.  config_want() returns 'want'. */
static const struct variable {
	const char *name;
	bool (*set)(struct config *c, const char *value);
	const char *fallback;
	const char *want;
} variables[CONFIG_VARIABLE_COUNT] = {
	{ "HATFTRACE_OUT", set_out, "%e.%p.hatf.gz",
	  "a path with % only in %p, %e, %h, %n and %%, and in %s after the "
	  "last /" },
	{ "HATFTRACE_CLOCK", set_clock, "auto", "auto, off, coarse, us or ns" },
	{ "HATFTRACE_COMPRESS", set_compress, "gzip",
	  "gzip, gzip:1 to gzip:3, or none" },
	{ "HATFTRACE_FULL", set_full, "wait", "wait or drop" },
	{ "HATFTRACE_BUFFER", set_buffer, "1M",
	  "a number of bytes per thread, from 4K to 1G" },
	{ "HATFTRACE_ROTATE", set_rotate, "off",
	  "a size of 64K or more (such as 64M), a time (such as 10m or 1h), "
	  "both (such as 64M,1h), or off" },
	{ "HATFTRACE_KEEP", set_keep, "all",
	  "a number of segments from 2 to 4096, a size of 128K or more (such "
	  "as 1G), or all" },
	{ "HATFTRACE_RINGS", set_rings, "beside",
	  "beside, none, or the path of a directory (with a / in the path)" },
	{ "HATFTRACE_FOLLOW", set_follow, "all",
	  "none, fork, exec or all, with or without :GLOB,... at the end" },
	{ "HATFTRACE_START", set_start, "on", "on or off" },
	{ "HATFTRACE_BEGIN", set_begin, "late", "late or now" },
	{ "HATFTRACE_CONTROL", set_control, "on", "on or off" },
	{ "HATFTRACE_NOTES", set_notes, "none", "none or an absolute path" },
	{ "HATFTRACE_STACKS", set_stacks, "off",
	  "off, caller, on or a number of frames from 1 to 256; all but off "
	  "may end in :frees" },
	{ "HATFTRACE_VERBOSE", set_verbose, "0", "0 or 1" },
};

const char *
config_variable_name(size_t variable)
{
	return variables[variable].name;
}

const char *
config_want(size_t variable)
{
	return variables[variable].want;
}

size_t
config_find_variable(const char *string)
{
	size_t i = 0;

	/*
	 * Return quickly, because most strings of an environment are not
	 * variables of the recorder.
	 */
	if (strncmp(string, CONFIG_PREFIX, sizeof(CONFIG_PREFIX) - 1) != 0)
		return CONFIG_VARIABLE_COUNT;
	for (; i < CONFIG_VARIABLE_COUNT; i++) {
		const size_t n = strlen(variables[i].name);

		if (strncmp(string, variables[i].name, n) == 0 &&
		    (string[n] == '=' || string[n] == '\0'))
			break;
	}
	return i;
}

bool
config_set(struct config *c, size_t variable, const char *value)
{
	return variables[variable].set(c, value);
}

size_t
config_set_all(struct config *c,
	       const char *const values[CONFIG_VARIABLE_COUNT])
{
	for (size_t i = 0; i < CONFIG_VARIABLE_COUNT; i++) {
		const char *const value = values[i];

		if (!config_set(c, i,
				value != NULL ? value : variables[i].fallback))
			return i;
	}
	if (values[config_find_variable("HATFTRACE_BUFFER")] == NULL) {
		c->initial_ring_words = INITIAL_RING_WORDS;
		c->all_ring_words = ALL_RING_WORDS;
	}
	bound_segments(c);
	c->rings_asked =
		values[config_find_variable("HATFTRACE_RINGS")] != NULL;
	return CONFIG_VARIABLE_COUNT;
}
