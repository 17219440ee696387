/* SPDX-License-Identifier: MIT */
/*
 * live_blocks.h - the table of live blocks, from which the next segment begins
 *
 * Only the writer thread uses it, and adds each event that goes into the trace.
 * The table exists only if the user wants segments, since it takes memory in
 * proportion to the live blocks.  It uses open addressing, has 24 bytes a slot,
 * 28 if call stacks are recorded, and is between 1/8 and 3/4 full.  Its
 * mappings are not inherited by the child of a fork.  Look-ups miss the cache.
 * Therefore a queue delays each event by some events, while the event's slot is
 * prefetched.
 */
#ifndef LIVE_BLOCKS_H
#define LIVE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/order.h"

struct live_block {
	uint64_t address; /* 0: the slot is free */
	uint64_t size;
	uint32_t thread; /* the thread that allocated it, modulo 2^32 */
	uint32_t heap;	 /* modulo 2^32; 0 is malloc's */
};

/* Events whose slots are being prefetched; a power of two. */
#define LIVE_BLOCKS_QUEUE 16u

struct live_block_change {
	struct live_block block;
	uint32_t stack;
	enum {
		LIVE_BLOCK_NO_CHANGE,
		LIVE_BLOCK_PUT,
		LIVE_BLOCK_RESIZE,
		LIVE_BLOCK_REMOVE,
	} what;
};

struct live_blocks {
	struct live_block *slots; /* NULL: there is no table */
	uint32_t *stacks;	  /* of the blocks, by slot; NULL: not kept */
	uint64_t slot_count;	  /* a power of two */
	uint64_t used, nbytes;	  /* blocks, and the sum of their sizes */
	uint64_t seed;
	unsigned shift; /* 64 - log2(slot_count) */
	unsigned next;	/* in 'queue': the oldest */
	bool has_gone;	/* destroyed heaps may still have blocks here */
	struct live_block_change queue[LIVE_BLOCKS_QUEUE];
};

/* Map an empty table, with the stacks of blocks or without.  False: no memory.
 */
bool live_blocks_init(struct live_blocks *c, bool has_stacks);

/* Unmap the table.  From now on 'slots' is NULL and events are ignored. */
void live_blocks_fini(struct live_blocks *c);

/*
 * Add the next event in the trace's order.  No effect if 'slots' is NULL.
 * False: no memory, and live_blocks_fini() has been called.
 */
bool live_blocks_add_event(struct live_blocks *c,
			   const struct order_producer *producer,
			   const struct event *ev);

/*
 * Return the number of the call stack that allocated the block in a slot, or
 * changed its size; 0: none.
 */
static inline uint32_t
live_blocks_stack(const struct live_blocks *c, uint64_t slot)
{
	return c->stacks == NULL ? 0 : c->stacks[slot];
}

/*
 * Apply the queue: call this before you read 'slots', 'used' or 'nbytes'.
 * False as for live_blocks_add_event().
 */
bool live_blocks_apply_queue(struct live_blocks *c);

#endif /* LIVE_BLOCKS_H */
