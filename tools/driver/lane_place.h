/* SPDX-License-Identifier: MIT */
/*
 * lane_place.h - where each thread of the driver is, for a watching process
 *
 * The places are in memory that the driver shares with 'hatf replay', at the
 * end of 'struct driver_run'.  A thread stores the address of its next word
 * before each call, so 'hatf replay' sees whether the thread goes on, and which
 * call it is in.
 */
#ifndef LANE_PLACE_H
#define LANE_PLACE_H

#include <stdatomic.h>
#include <stdint.h>

enum lane_state {
	LANE_UNBORN, /* no thread has run this stream yet */
	LANE_CALLS,  /* in a call, or about to make one */
	LANE_WAITS,  /* waits for another thread */
	LANE_JOINS,  /* waits for the end of a thread of stream 'detail' */
	LANE_PAUSES, /* waits until a given time */
	LANE_ENDED,  /* the stream's latest thread has no more words */
};

/*
 * Each place fills cache lines of its own.  All atomic stores are relaxed,
 * because 'hatf replay' only looks for changes, several times a second.
 */
struct lane_place {
	/*
	 * The address of the next word in the driver's memory, plus 4 if this
	 * word is a pair whose first call has been made.
	 */
	_Alignas(128) const char *_Atomic next;
	const uint64_t *chunk;	      /* the chunk with the next word */
	_Atomic uint32_t chunk_count; /* chunks read so far */
	_Atomic uint32_t state;	      /* an 'enum lane_state' */
	/*
	 * For LANE_JOINS: the number of the stream.  During a long write to a
	 * block, the thread changes this member now and then, so that 'hatf
	 * replay' sees that the thread goes on.
	 */
	_Atomic uint32_t detail;
};

static inline void
lane_place_next(struct lane_place *place, const uint64_t *next)
{
	atomic_store_explicit(&place->next, (const char *)next,
			      memory_order_relaxed);
}

/* Note that the next call is the second one of the pair 'word'. */
static inline void
lane_place_second(struct lane_place *place, const uint64_t *word)
{
	atomic_store_explicit(&place->next, (const char *)word + 4,
			      memory_order_relaxed);
}

static inline void
lane_place_state(struct lane_place *place, enum lane_state state,
		 uint32_t detail)
{
	atomic_store_explicit(&place->detail, detail, memory_order_relaxed);
	atomic_store_explicit(&place->state, state, memory_order_relaxed);
}

#endif /* LANE_PLACE_H */
