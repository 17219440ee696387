/* SPDX-License-Identifier: MIT */
/*
 * driver.h - the process that makes the calls of a compiled trace
 *
 * 'hatf replay' executes itself again for each run, with the allocator in
 * LD_PRELOAD, and DRIVER_WORD and two descriptors as arguments: the file of
 * replay_words.h, and a 'struct driver_run' in shared memory.  The same program
 * serves both ends, so they always agree on these structures, and there is no
 * second file to install or to find.
 *
 * The driver's own memory is mapped, not allocated, and resident before the
 * first call: a chunk for each thread, and the slots.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "tools/driver/lane_samples.h"
#include "tools/driver/latency.h"
#include "tools/driver/own_stats.h"

#include <stdbool.h>
#include <stdint.h>

#define DRIVER_WORD "--drive"

enum driver_touch {
	TOUCH_NONE,
	TOUCH_FIRST, /* the first byte of each block */
	TOUCH_ALL,   /* a byte of each page of each block */
};

struct driver_run {
	/* Set by the caller: */
	bool is_null; /* make no calls, to measure the driver's own cost */
	enum driver_touch touch;
	bool is_checked;      /* check the order of calls, with pauses */
	uint64_t pause_mask;  /* of struct lane_checks */
	uint64_t seed;	      /* of the pauses; not 0 */
	bool is_timed;	      /* measure the latency of each call */
	bool is_sized;	      /* find out what blocks can hold */
	uint64_t sample_step; /* calls between two samples; 0: none */
	bool asks_own;	      /* for what the allocator tells of itself */
	/* Set by the driver: */
	bool is_done;
	char message[256]; /* why it is not done; "": unknown */
	char library[256]; /* the object that defines malloc */
	uint64_t wall_ns, cpu_ns;
	uint64_t faults; /* page faults, major ones too */
	uint64_t failed; /* calls that found no memory */
	/* With 'is_sized', at the peak of what was asked for; 0: unknown. */
	uint64_t asked_nbytes, usable_nbytes;
	struct own_stats own; /* 'source' is copied to 'own_source' */
	char own_source[32];
	struct latency latencies[LATENCY_KINDS];
	/*
	 * Resident memory.  Less that of the null allocator, it is what the
	 * allocator takes, with its code and what it sets up at its start.
	 */
	uint64_t peak_nbytes, end_nbytes;
	struct lane_sample samples[LANE_SAMPLES_MAX]; /* calls / step */
};

/* The driver; 'argv' has the two descriptors.  Returns only on failure. */
int driver_main(int argc, char **argv);

#endif /* DRIVER_H */
