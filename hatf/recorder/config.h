/* SPDX-License-Identifier: MIT */
/*
 * config.h - the recorder's environment variables: their names, rules and
 * values
 *
 * The recorder and 'hatf record' use the same table of rules, so they accept
 * the same values.  Tests compare README.md and libhatftrace(7) with the table.
 * The functions run in a traced program: they allocate nothing, take no lock
 * and leave errno alone.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include "hatf/recorder/follow_rule.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of frames in a call stack. */
#define CONFIG_STACK_DEPTH_MAX 256u

enum config_clock {
	CONFIG_CLOCK_AUTO,
	CONFIG_CLOCK_OFF,
	CONFIG_CLOCK_COARSE,
	CONFIG_CLOCK_US,
	CONFIG_CLOCK_NS,
};

/*
 * The large members come last, so that the recorder touches few pages of
 * memory: the small members are close together, and usually only the first
 * bytes of a large member are used.
 */
struct config {
	enum config_clock clock;
	int level; /* level of compression; 0: none */
	bool drop; /* true: drop events if a ring is full; false: wait */
	bool verbose;
	/*
	 * The limits of a segment in bytes and in time, after which the next
	 * segment begins; 0: no such limit.
	 */
	uint64_t rotate_nbytes, rotate_ns;
	/*
	 * How many segments, and how many bytes of segments, to keep, including
	 * the current segment; 0: no limit.
	 */
	uint64_t keep_count, keep_nbytes;
	/* where ring files are: "beside", "none" or a folder */
	const char *rings;
	bool rings_asked; /* the user has set HATFTRACE_RINGS */
	/* Record from the start; else only after an order. */
	bool start;
	bool control; /* take orders from 'hatf ctl', see control.h */
	/*
	 * true: create the trace file and the writer thread at the first event;
	 * false: later (HATFTRACE_BEGIN in libhatftrace(7))
	 */
	bool begin_now;
	uint64_t ring_words; /* capacity of a ring in words, a power of two */
	/* The capacity of the ring of the initial thread. */
	uint64_t initial_ring_words;
	/*
	 * The limit for the growth of rings: all rings together grow to at most
	 * this many words, and each of n rings to at most
	 * 'all_ring_words' / 2 / n.  UINT64_MAX (no limit) if the user has set
	 * HATFTRACE_BUFFER.
	 */
	uint64_t all_ring_words;
	/* maximum number of frames in a call stack; 0: record no stacks */
	uint32_t stack_depth;
	bool stack_frees; /* record call stacks of frees, too */
	struct follow follow;
	/* template for the name of the trace, see output.h */
	char out[PATH_MAX];
	char globs[GLOBS_NBYTES];
	char rings_folder[PATH_MAX];
};

/* Each variable has a number, from 0 to CONFIG_VARIABLE_COUNT - 1. */
#define CONFIG_VARIABLE_COUNT 15
#define CONFIG_PREFIX	      "HATFTRACE_"

const char *config_variable_name(size_t variable);

/*
 * Return a phrase that says which values the variable accepts.  Messages print
 * this phrase after the word "want".
 */
const char *config_want(size_t variable);

/*
 * Return the number of the variable that 'string' ("NAME" or "NAME=value")
 * names; CONFIG_VARIABLE_COUNT if it names none.
 */
size_t config_find_variable(const char *string);

/*
 * Set one variable.  Return false if 'value' is invalid; '*c' may then be
 * partly changed.
 */
bool config_set(struct config *c, size_t variable, const char *value);

/*
 * Set all variables: 'values' has the value of each variable, by the variable's
 * number, or NULL for the default.  Return CONFIG_VARIABLE_COUNT on success;
 * otherwise, the number of the first variable whose value is invalid.
 */
size_t config_set_all(struct config *c,
		      const char *const values[CONFIG_VARIABLE_COUNT]);

/* Return the word by which HATFTRACE_CLOCK names 'clock': "auto", "off", ... */
const char *config_clock_name(enum config_clock clock);

#endif /* CONFIG_H */
