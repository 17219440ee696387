/* SPDX-License-Identifier: MIT */
/*
 * live_blocks.h - the table of live blocks, from which the next segment begins
 *
 * Only the thread that does the writer's work uses the table, and passes it
 * each event that goes into the trace.  The table exists only if the user wants
 * segments, since it takes memory in proportion to the live blocks.  The table
 * uses open addressing, is at most 3/4 full, and shrinks when it is less than
 * 1/8 full, down to a minimum size.  It takes 24 bytes per slot, or 28 if call
 * stacks are recorded.  The child of a fork does not inherit the mappings of
 * the table.
 *
 * Look-ups miss the processor's cache.  Each change of the table therefore
 * waits in a queue until some further changes have come.  Meanwhile the
 * processor prefetches the slot of the change.
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
	/* number of the thread that allocated the block, modulo 2^32 */
	uint32_t thread;
	/* number of the block's heap modulo 2^32; 0 is malloc's heap */
	uint32_t heap;
};

/*
 * Number of changes that wait while their slots are prefetched; a power of two.
 */
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
	/* The number of each slot's call stack.  NULL: stacks are not kept. */
	uint32_t *stacks;
	uint64_t slot_count; /* a power of two */
	/*
	 * 'used': number of slots with a block or with the mark of a destroyed
	 * heap.  'nbytes': sum of the sizes of the blocks.
	 */
	uint64_t used, nbytes;
	uint64_t seed;
	unsigned shift; /* 64 - log2(slot_count) */
	unsigned next;	/* index of the oldest change in 'queue' */
	bool has_gone;	/* destroyed heaps may still have blocks here */
	struct live_block_change queue[LIVE_BLOCKS_QUEUE];
};

/*
 * Map an empty table.  If 'has_stacks' is set, the table also keeps the call
 * stack of each block.  Return false if there is no memory.
 */
bool live_blocks_init(struct live_blocks *c, bool has_stacks);

/* Unmap the table.  From now on 'slots' is NULL and events are ignored. */
void live_blocks_fini(struct live_blocks *c);

/*
 * Update the table for the next event in the trace's order.  This has no effect
 * if 'slots' is NULL.  Return false if there was no memory and
 * live_blocks_fini() has therefore been called.
 */
bool live_blocks_add_event(struct live_blocks *c,
			   const struct order_producer *producer,
			   const struct event *ev);

/*
 * Return the number of a call stack: that of the call that allocated the block
 * in 'slot' or last changed the block's size.  0: none.
 */
static inline uint32_t
live_blocks_stack(const struct live_blocks *c, uint64_t slot)
{
	return c->stacks == NULL ? 0 : c->stacks[slot];
}

/*
 * Apply the changes in the queue.  Call this before you read 'slots', 'used' or
 * 'nbytes'.  Return the same as live_blocks_add_event().
 */
bool live_blocks_apply_queue(struct live_blocks *c);

#endif /* LIVE_BLOCKS_H */
