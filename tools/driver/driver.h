/* SPDX-License-Identifier: MIT */
/*
 * driver.h - the process that makes the calls of a compiled trace
 *
 * 'hatf replay' executes itself again for each run.  LD_PRELOAD has the
 * allocator's library; for the allocator of libc, LD_PRELOAD is not set.  The
 * arguments are DRIVER_WORD and two descriptors: one of the compiled trace
 * (replay_words.h), and one of a 'struct driver_run' in shared memory.  The
 * same program is caller and driver, so both always agree on these structures,
 * and there is no second program to install or to find.
 *
 * The driver's own memory is mainly a chunk for each stream, and the slots
 * (replay_words.h).  It comes from mmap(), not from the allocator under test,
 * and is resident before the first call.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "tools/driver/lane_place.h"
#include "tools/driver/lane_samples.h"
#include "tools/driver/latency.h"
#include "tools/driver/own_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRIVER_WORD "--drive"

/*
 * Exit status of a driver that cannot map the shared memory, most likely
 * because the allocator has closed the descriptor.
 */
#define DRIVER_UNSHARED 98

enum driver_touch {
	TOUCH_NONE,
	TOUCH_FIRST, /* write to the first byte of each block */
	TOUCH_ALL,   /* write to a byte of each page of each block */
};

enum driver_phase {
	/*
	 * before the first call, while the loader, the allocator and the driver
	 * start up
	 */
	DRIVER_STARTS,
	DRIVER_RUNS,
	DRIVER_ENDS, /* all calls have been made */
};

/*
 * 'hatf replay' must not trust what the driver has stored here, because the
 * allocator under test can overwrite it.
 */
struct driver_run {
	/* Members that 'hatf replay' sets: */
	/* call the null allocator, to measure the driver's own cost */
	bool is_null;
	enum driver_touch touch;
	bool is_checked; /* check the order of calls, and pause at random */
	/* also check that blocks have the alignment that the call asked for */
	bool checks_alignment;
	uint64_t pause_mask;  /* see 'pause_mask' in struct lane_checks */
	uint64_t seed;	      /* seed of the pauses; not 0 */
	bool is_timed;	      /* measure the latency of each call */
	bool is_sized;	      /* sum up malloc_usable_size() of the blocks */
	uint64_t sample_step; /* calls from sample to sample; 0: no samples */
	bool asks_own;	      /* ask for the allocator's own statistics */
	/* Members that the driver sets: */
	_Atomic uint32_t phase; /* an 'enum driver_phase' */
	bool is_done;
	char message[256]; /* why 'is_done' is false; "": unknown */
	char library[256]; /* path of the library that defines malloc */
	uint64_t wall_ns, cpu_ns;
	/*
	 * 'busy_ns' sums the times of all threads from their first word to
	 * their last one, without waits and pauses.  'busiest_ns' is the part
	 * of this sum that belongs to the threads of the busiest lane
	 * (lanes.h).  'wait_ns' is the time that all threads waited for calls
	 * of other threads, 'wait_cpu_ns' the CPU time of these waits.
	 */
	uint64_t busy_ns, busiest_ns, wait_ns, wait_cpu_ns;
	uint64_t faults; /* page faults, including major ones */
	uint64_t failed; /* calls that failed for lack of memory */
	/*
	 * With 'is_sized': the bytes asked for and the usable bytes of all live
	 * blocks, when the bytes asked for were at their peak.  0: unknown.
	 */
	uint64_t asked_nbytes, usable_nbytes;
	/*
	 * Do not use 'own.source', which points into the driver's memory.
	 * 'own_source' has a copy of that text.
	 */
	struct own_stats own;
	char own_source[32];
	struct latency latencies[LATENCY_KINDS];
	/*
	 * Resident memory.  The difference from a run with the null allocator
	 * is the memory of the allocator, with its code and its initial data.
	 */
	uint64_t peak_nbytes, end_nbytes;
	/* A sample after each 'sample_step' calls. */
	struct lane_sample samples[LANE_SAMPLES_MAX];
	struct lane_place places[]; /* one for each stream */
};

/* Return the size of a 'struct driver_run' with 'stream_count' places. */
static inline size_t
driver_run_nbytes(uint32_t stream_count)
{
	return sizeof(struct driver_run) +
	       stream_count * sizeof(struct lane_place);
}

/*
 * Run the driver; 'argv' contains the two descriptors.  Returns only on
 * failure.
 */
int driver_main(int argc, char **argv);

#endif /* DRIVER_H */
