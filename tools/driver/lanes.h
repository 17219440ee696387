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
#include "tools/driver/lane_samples.h"
#include "tools/driver/lane_sizes.h"
#include "tools/driver/latency.h"
#include "tools/driver/replay_words.h"
#include "tools/driver/turns.h"

#include <pthread.h>

/* In cache lines of its own. */
struct lane {
	_Alignas(128) const uint64_t *next; /* word */
	uint64_t *chunk;
	uint32_t number; /* of the next chunk, in its list */
	uint64_t failed;
	lane_random random;
	uint64_t begin;			/* ticks, of the call */
	struct latency_counts *latency; /* NULL: not wanted */
	struct lanes *all;
	const struct replay_stream *stream;
	pthread_t thread;
	turn_number created; /* threads; the last one of them is 'thread' */
};

struct lanes {
	int fd;			/* of the words */
	const uint32_t *chunks; /* the lists of all lanes */
	struct lane *lanes;
	uint32_t count;
	void **blocks;	    /* by slot */
	turn_number *turns; /* by slot */
	struct driver_calls calls;
	uint64_t touch_nbytes;	      /* of a block that are written to */
	uint64_t touch_mask;	      /* 0: write to its first byte only */
	bool is_observed;	      /* one of the next three, or latencies */
	struct lane_checks *checks;   /* NULL: none */
	struct lane_sizes *sizes;     /* NULL: not wanted */
	struct lane_samples *samples; /* NULL: not wanted */
	uint64_t begin_ns;
	turn_number parked; /* threads that have no more words */
	/* WORD_BEGIN: threads that are there, and 1 once all are. */
	_Atomic uint32_t arrived_count;
	turn_number opened;
	void (*restart)(struct lanes *all); /* the measures */
	/* end the process with a message */
	void (*fail)(const char *what);
};

/*
 * Run lane 0 on this thread and wait until all others have done their last
 * call.  Threads that the trace has not ended then still exist.
 */
void lanes_run(struct lanes *all, uint64_t parked_count);

uint64_t lanes_now_ns(void);

/* A number that grows at a constant rate: latencies are in these. */
uint64_t lanes_ticks(void);

#endif /* LANES_H */
