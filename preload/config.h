/* SPDX-License-Identifier: MIT */
/*
 * config.h - the environment variables, all in one table
 *
 * The table in config.c is what the README and libhatftrace(7) are checked
 * against.  Nothing here allocates.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "follow.h"

enum config_clock {
	CONFIG_CLOCK_AUTO,
	CONFIG_CLOCK_OFF,
	CONFIG_CLOCK_COARSE,
	CONFIG_CLOCK_US,
	CONFIG_CLOCK_NS,
};

/* What is large comes last: of most of that only the beginning is used, or nothing. */
struct config {
	enum config_clock clock;
	int level; /* of compression; 0: none */
	bool drop; /* a full ring drops rather than waits */
	bool verbose;
	/* When the next segment begins; 0: not for this reason. */
	uint64_t rotate_nbytes, rotate_ns;
	/* Which are kept, the current one among them; 0: all. */
	uint64_t keep_count, keep_nbytes;
	const char *rings;   /* "beside", "none" or a folder */
	bool rings_asked;    /* it is set */
	bool start;	     /* record from the start, not only when told to */
	bool control;	     /* take orders, see control.h */
	bool begin_now;	     /* the first event makes file and writer thread */
	uint64_t ring_words; /* capacity of a ring, a power of two */
	uint64_t initial_ring_words; /* likewise, of the initial thread's */
	struct follow follow;
	char out[PATH_MAX]; /* template, see output.h */
	char globs[GLOBS_NBYTES];
	char rings_folder[PATH_MAX];
};

/*
 * Fill '*config_ret' from 'environment' (as environ(7)).  On a wrong value, or
 * where valgrind runs the program, says so in one line on stderr and returns
 * false.
 */
bool config_read(char *const environment[], struct config *config_ret);

/*
 * The settings of this process, which the thread that starts its trace reads from
 * 'environment', as above.  Constant from then on; what they say before is of no
 * use.
 */
bool config_read_own(char *const environment[]);
const struct config *config_own(void);

/* The word for the header: "auto", "off", ... */
const char *config_clock_name(enum config_clock clock);

#endif /* CONFIG_H */
