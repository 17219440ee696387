/* SPDX-License-Identifier: MIT */
/*
 * live_blocks.h - the live blocks, which the next segment begins with
 *
 * Belongs to the writer thread, which tells it each event that goes into the
 * trace; only where segments are asked for, since it takes memory in proportion
 * to the live blocks.  An open-addressing table of 24 bytes a slot, between 1/8
 * and 3/4 full, in mappings of its own that the child of a fork does not have.
 * Look-ups miss the cache, so an event is applied some events after it is told,
 * when what it needs has been loaded.
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
	uint32_t thread; /* that allocated it, modulo 2^32 */
	uint32_t heap;	 /* modulo 2^32; 0 is malloc's */
};

/* Events that wait for their slot to be loaded; a power of two. */
#define LIVE_BLOCKS_QUEUE 16u

struct live_block_change {
	struct live_block block;
	enum {
		LIVE_BLOCK_NO_CHANGE,
		LIVE_BLOCK_PUT,
		LIVE_BLOCK_RESIZE,
		LIVE_BLOCK_REMOVE,
	} what;
};

struct live_blocks {
	struct live_block *slots; /* NULL: nothing is kept */
	uint64_t slot_count;	  /* a power of two */
	uint64_t used, nbytes;	  /* blocks, and the sum of their sizes */
	uint64_t seed;
	unsigned shift; /* 64 - log2(slot_count) */
	unsigned next;	/* in 'queue': the oldest */
	bool has_gone;	/* heaps whose blocks may still be here */
	struct live_block_change queue[LIVE_BLOCKS_QUEUE];
};

/* Begin with nothing.  False if there is no memory. */
bool live_blocks_init(struct live_blocks *c);

/* Give the memory back and keep nothing from now on. */
void live_blocks_fini(struct live_blocks *c);

/*
 * An event in its order.  False if there is no memory: then live_blocks_fini() has been
 * done.  Does nothing where nothing is kept.
 */
bool live_blocks_add_event(struct live_blocks *c,
			   const struct order_source *source,
			   const struct event *ev);

/*
 * Apply what waits, before 'slots', 'used' or 'nbytes' are looked at.  False as for
 * live_blocks_add_event().
 */
bool live_blocks_apply_queue(struct live_blocks *c);

#endif /* LIVE_BLOCKS_H */
