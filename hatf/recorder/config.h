/* SPDX-License-Identifier: MIT */
/*
 * config.h - the recorder's environment variables: their names, rules and
 * values
 *
 * The recorder and 'hatf record' both judge values by this table, so they
 * agree. Tests compare README.md and libhatftrace(7) with it.  The functions
 * run in a traced program: they allocate nothing, take no lock and leave errno
 * alone.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include "hatf/recorder/follow_rule.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most frames of a call stack. */
#define CONFIG_STACK_DEPTH_MAX 256u

enum config_clock {
	CONFIG_CLOCK_AUTO,
	CONFIG_CLOCK_OFF,
	CONFIG_CLOCK_COARSE,
	CONFIG_CLOCK_US,
	CONFIG_CLOCK_NS,
};

/*
 * The large members come last: most programs touch only the first bytes of
 * them.
 */
struct config {
	enum config_clock clock;
	int level; /* of compression; 0: none */
	bool drop; /* a full ring drops rather than waits */
	bool verbose;
	/* When the next segment begins; 0: not for this reason. */
	uint64_t rotate_nbytes, rotate_ns;
	/* Segments to keep, the current one among them; 0: all. */
	uint64_t keep_count, keep_nbytes;
	const char *rings;   /* "beside", "none" or a folder */
	bool rings_asked;    /* it is set */
	bool start;	     /* record from the start, not only when told to */
	bool control;	     /* take orders, see control.h */
	bool begin_now;	     /* the first event makes file and writer thread */
	uint64_t ring_words; /* capacity of a ring, a power of two */
	uint64_t initial_ring_words; /* likewise, of the initial thread's */
	uint32_t stack_depth;	     /* frames of a call stack; 0: no stacks */
	bool stack_frees;	     /* frees have stacks, too */
	struct follow follow;
	char out[PATH_MAX]; /* template, see output.h */
	char globs[GLOBS_NBYTES];
	char rings_folder[PATH_MAX];
};

/* The environment variables, by number: 0 to CONFIG_VARIABLE_COUNT - 1. */
#define CONFIG_VARIABLE_COUNT 15
#define CONFIG_PREFIX	      "HATFTRACE_"

const char *config_variable_name(size_t variable);

/* What values the variable takes, in words that follow "want". */
const char *config_want(size_t variable);

/*
 * The number of the variable that 'string' names, alone or as in "NAME=value";
 * CONFIG_VARIABLE_COUNT: none.
 */
size_t config_find_variable(const char *string);

/* Set one variable; false: 'value' is wrong, and '*c' may be half set. */
bool config_set(struct config *c, size_t variable, const char *value);

/*
 * Set every variable, NULL to its default.  Returns CONFIG_VARIABLE_COUNT, or
 * the number of the first variable whose value is wrong.
 */
size_t config_set_all(struct config *c,
		      const char *const values[CONFIG_VARIABLE_COUNT]);

/* The word for the header: "auto", "off", ... */
const char *config_clock_name(enum config_clock clock);

#endif /* CONFIG_H */
