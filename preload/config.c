/* SPDX-License-Identifier: MIT */
/* config.c - see config.h */

#include "config.h"

#include <string.h>

#include "deflate.h"
#include "jotter.h"
#include "memory.h"
#include "say.h"
#include "sys.h"

/*
 * Where nothing else is said, the initial thread, which in many programs does all
 * the work, has a ring that lets it go on when the writer does not get a processor
 * for a while.
 */
#define INITIAL_RING_WORDS ((4ull << 20) / sizeof(uint64_t))
#define RING_NBYTES_MIN	   (4ull << 10) /* room for a few dozen events */
#define RING_NBYTES_MAX	   (1ull << 30)

/* Less would be more header than trace. */
#define ROTATE_NBYTES_MIN     (64ull << 10)
#define ROTATE_NBYTES_DEFAULT (64ull << 20)
/* As many hours in nanoseconds, or GiB, are a number of 64 bits. */
#define AMOUNT_MAX 1000000ull
/* That fit in a budget of bytes if nothing else is said. */
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

/* A number at '*value', which moves behind it; false if there is none. */
static bool
take_number(const char **value, uint64_t *n_ret)
{
	unsigned digits = 0;

	*n_ret = 0;
	for (; **value >= '0' && **value <= '9' && digits < 12; digits++)
		*n_ret = *n_ret * 10 + (uint64_t)(*(*value)++ - '0');
	return digits != 0;
}

/* The power of two that a suffix stands for; 0 if it is none. */
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
	/* At most 12 digits, so the shift loses none. */
	if (n > RING_NBYTES_MAX)
		return false;
	n <<= shift;
	if (*value != '\0' || n < RING_NBYTES_MIN || n > RING_NBYTES_MAX)
		return false;
	/* Down to a power of two: what was asked for is the most. */
	c->ring_words = 1;
	while (c->ring_words * 2 * sizeof(uint64_t) <= n)
		c->ring_words *= 2;
	c->initial_ring_words = c->ring_words;
	return true;
}

/* A time at '*value' in nanoseconds; the suffix is the one behind the number. */
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

/* A size, a time, or one of each with a comma between. */
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

/* A number of segments, or bytes with a suffix. */
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
 * What is kept is bounded only if the segments are: several must fit in the budget
 * beside the current one.
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

/* Only checked here: jotter.c reads it, also without a configuration. */
static bool
set_notes(struct config *c, const char *value)
{
	(void)c;
	return value[0] == '/' || strcmp(value, "none") == 0;
}

/* The one table.  'want' completes "wrong value, want ...". */
static const struct variable {
	const char *name;
	bool (*set)(struct config *c, const char *value);
	const char *fallback;
	const char *want;
} variables[] = {
	{ "HATFTRACE_OUT", set_out, "%e.%p.hatf.gz",
	  "a path with %p, %e, %h, %n, %s or %%" },
	{ "HATFTRACE_CLOCK", set_clock, "auto", "auto, off, coarse, us or ns" },
	{ "HATFTRACE_COMPRESS", set_compress, "gzip",
	  "gzip, gzip:1 to gzip:3, or none" },
	{ "HATFTRACE_FULL", set_full, "wait", "wait or drop" },
	{ "HATFTRACE_BUFFER", set_buffer, "1M", "bytes a thread, 4K to 1G" },
	{ "HATFTRACE_ROTATE", set_rotate, "off",
	  "a size (64K or more, as in 64M), a time (as in 10m or 1h), or both "
	  "with a comma between, or off" },
	{ "HATFTRACE_KEEP", set_keep, "all",
	  "2 to 4096 segments, a size (128K or more, as in 1G), or all" },
	{ "HATFTRACE_RINGS", set_rings, "beside",
	  "beside, none or a directory with a / in its name" },
	{ "HATFTRACE_FOLLOW", set_follow, "all",
	  "none, fork, exec or all, and :GLOB,..." },
	{ "HATFTRACE_START", set_start, "on", "on or off" },
	{ "HATFTRACE_BEGIN", set_begin, "late", "late or now" },
	{ "HATFTRACE_CONTROL", set_control, "on", "on or off" },
	{ "HATFTRACE_NOTES", set_notes, "none", "none or an absolute path" },
	{ "HATFTRACE_VERBOSE", set_verbose, "0", "0 or 1" },
};

#define PREFIX	       "HATFTRACE_"
#define VARIABLE_COUNT (sizeof(variables) / sizeof(variables[0]))

/* Which of the variables 'string' sets; VARIABLE_COUNT: none. */
static size_t
find_variable(const char *string)
{
	size_t i = 0;

	/* Most of an environment is not ours. */
	if (strncmp(string, PREFIX, sizeof(PREFIX) - 1) != 0)
		return VARIABLE_COUNT;
	for (; i < VARIABLE_COUNT; i++) {
		const size_t n = strlen(variables[i].name);

		if (strncmp(string, variables[i].name, n) == 0 &&
		    string[n] == '=')
			break;
	}
	return i;
}

/* The value of each variable, or NULL.  The first of two counts. */
static void
find_values(char *const environment[], const char *value_ret[VARIABLE_COUNT])
{
	memset(value_ret, 0, VARIABLE_COUNT * sizeof(value_ret[0]));
	for (; environment != NULL && *environment != NULL; environment++) {
		const size_t i = find_variable(*environment);

		if (i != VARIABLE_COUNT && value_ret[i] == NULL)
			value_ret[i] =
				*environment + strlen(variables[i].name) + 1;
	}
}

/* Valgrind preloads libraries of its own. */
static bool
is_under_valgrind(char *const environment[])
{
	static const char variable[] = "LD_PRELOAD=";

	for (; environment != NULL && *environment != NULL; environment++)
		if (strncmp(*environment, variable, sizeof(variable) - 1) == 0)
			return strstr(*environment, "/vgpreload_core-") != NULL;
	return false;
}

bool
config_read(char *const environment[], struct config *config_ret)
{
	const char *value[VARIABLE_COUNT];

	if (is_under_valgrind(environment)) {
		if (!jotter_untraced("under valgrind"))
			say("valgrind knows nothing of threads like the "
			    "tracer's; not tracing");
		return false;
	}
	find_values(environment, value);
	for (size_t i = 0; i < VARIABLE_COUNT; i++) {
		const struct variable *const v = &variables[i];

		if (v->set(config_ret,
			   value[i] != NULL ? value[i] : v->fallback))
			continue;
		say("%s: wrong value '%s', want %s; not tracing", v->name,
		    value[i], v->want);
		return false;
	}
	if (value[find_variable("HATFTRACE_BUFFER=")] == NULL)
		config_ret->initial_ring_words = INITIAL_RING_WORDS;
	bound_segments(config_ret);
	config_ret->rings_asked =
		value[find_variable("HATFTRACE_RINGS=")] != NULL;
	return true;
}

MEMORY_LARGE static struct config own;

bool
config_read_own(char *const environment[])
{
	return config_read(environment, &own);
}

const struct config *
config_own(void)
{
	return &own;
}
