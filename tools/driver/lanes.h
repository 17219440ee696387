/* SPDX-License-Identifier: MIT */
/*
 * lanes.h - the threads of the driver, each of which runs a stream of words
 *
 * A lane is a stream and the threads that run it, one after another.  Nothing
 * here allocates memory, except pthread_create().
 */
#ifndef LANES_H
#define LANES_H

#include "tools/driver/driver.h"
#include "tools/driver/driver_calls.h"
#include "tools/driver/lane_checks.h"
#include "tools/driver/lane_place.h"
#include "tools/driver/lane_samples.h"
#include "tools/driver/lane_sizes.h"
#include "tools/driver/lane_times.h"
#include "tools/driver/latency.h"
#include "tools/driver/replay_words.h"
#include "tools/driver/turns.h"

#include <pthread.h>

/* Each lane fills cache lines of its own. */
struct lane {
	_Alignas(128) const uint64_t *next; /* next word to run */
	struct lane_place *place;
	uint64_t *chunk;
	uint32_t number; /* index of the next chunk in the lane's list */
	struct lane_times times;
	uint64_t failed;
	lane_random random;
	uint64_t begin; /* start of the current call, in ticks */
	struct latency_counts *latency; /* NULL: do not measure latencies */
	struct lanes *all;
	const struct replay_stream *stream;
	pthread_t thread;
	/* number of threads created for this lane; 'thread' is the newest */
	turn_number created;
};

struct lanes {
	int fd;			/* the compiled trace (replay_words.h) */
	const uint32_t *chunks; /* the chunk lists of all lanes */
	struct lane *lanes;
	uint32_t count;
	void **blocks;	    /* indexed by slot */
	turn_number *turns; /* indexed by slot */
	struct driver_calls calls;
	/* write only to bytes below this offset in each block */
	uint64_t touch_nbytes;
	/*
	 * Each write to a block first ANDs the offset with this mask.  It is
	 * UINT64_MAX, but 0 for the null allocator: the blocks of this
	 * allocator have only the memory of 'scratch' (driver_calls.c), so all
	 * writes go to the first byte.
	 */
	uint64_t touch_mask;
	/* one of the next three pointers is set, or latencies are measured */
	bool is_observed;
	struct lane_checks *checks;   /* NULL: do not check */
	struct lane_sizes *sizes;     /* NULL: do not sum up usable sizes */
	struct lane_samples *samples; /* NULL: take no samples */
	uint64_t begin_ns;
	/* number of threads that have no more words, but do not end */
	turn_number parked;
	/*
	 * How many threads have reached their WORD_BEGIN.  The last one of them
	 * sets 'opened' to 1.
	 */
	_Atomic uint32_t arrived_count;
	turn_number opened;
	void (*restart)(struct lanes *all); /* Begin all measurements anew. */
	/* End the process with a message. */
	void (*fail)(const char *what);
};

/*
 * Begin the measurements, run lane 0 on this thread, and wait until the threads
 * of all other lanes have made their last calls.  This thread, and
 * 'parked_count' other threads that do not end in the trace, still exist
 * afterwards.
 */
void lanes_run(struct lanes *all, uint64_t parked_count);

/*
 * Return the present time in ticks, the unit of latencies.  All ticks have the
 * same length, which store_measures() computes.
 */
uint64_t lanes_ticks(void);

#endif /* LANES_H */
