/* SPDX-License-Identifier: MIT */
/*
 * heaps.h - the live blocks of every heap
 *
 * Each heap has a set of live blocks of its own, for two reasons.  A block of a
 * pool may have the same address as the block of heap 0 that contains the pool.
 * And if a heap is destroyed, all of its blocks are freed.  Memory is O(live
 * blocks + heaps that exist).  Used by one thread at a time.
 *
 * Invariant: 'live_count' and 'live_nbytes' are sums over all sets.
 */
#ifndef HATF_HEAPS_H
#define HATF_HEAPS_H

#include "hatf/containers/block_set.h"
#include "hatf/containers/ids.h"
#include "hatf/containers/u64_map.h"
#include "hatf/hatf.h"

struct heap {
	uint64_t id;
	struct block_set live;
	uint64_t nbytes; /* sum of the sizes of the heap's live blocks */
};

struct heaps {
	struct heap first;    /* heap 0, malloc's */
	struct heap **others; /* all other heaps, in any order */
	size_t other_count, other_cap;
	struct u64_map index; /* maps an id to 'value', the index in 'others' */
	struct ids ids;	      /* the ids of the heaps that exist */
	uint64_t live_count, live_nbytes;
	uint64_t peak_count, peak_nbytes;
};

/*
 * Start without blocks.  In a 'strict' trace, a heap must be created before it
 * is used (see ids.h).
 */
void heaps_init(struct heaps *heaps, bool strict);

/* Free all heaps. */
void heaps_fini(struct heaps *heaps);

/*
 * Forget the history of all live blocks: set their object id and their birth to
 * 0.  The peaks start again from the live blocks.
 */
void heaps_clear_history(struct heaps *heaps);

/*
 * Keep only those blocks of heap 0 that no event has touched since
 * heaps_clear_history(), and remove all others.  Return false if memory runs
 * out; some blocks are lost then.
 */
bool heaps_keep_without_history(struct heaps *heaps);

/*
 * Return the number and the bytes of the blocks in heap 'id' that no event has
 * touched since heaps_clear_history().
 */
void heaps_sum_without_history(struct heaps *heaps, uint64_t id,
			       uint64_t *count_ret, uint64_t *nbytes_ret);

/*
 * Return the heap 'id'.  Create it if it does not exist.  NULL if there is no
 * memory.
 */
struct heap *heaps_get(struct heaps *heaps, uint64_t id);

/* Like heaps_get(), but return NULL if the heap does not exist. */
struct heap *heaps_find(struct heaps *heaps, uint64_t id);

/*
 * From now on keep the pages of all sets in order (block_set.h); false if there
 * is no memory.
 */
bool heaps_keep_order(struct heaps *heaps);

/* Remove all blocks of heap 'id', and the heap itself unless it is heap 0. */
void heaps_clear(struct heaps *heaps, uint64_t id);

/*
 * Add a block, or replace the block at 'address'.  '*replaced_ret' is true if a
 * block was replaced; copy that block to '*lost_ret' unless 'lost_ret' is NULL.
 * Return false if there is no memory.
 */
bool heaps_put(struct heaps *heaps, struct heap *heap, uint64_t address,
	       const struct block *block, bool *replaced_ret,
	       struct block *lost_ret);

/*
 * Remove the block at 'address' and copy it to '*old_ret'; false if there is
 * none.
 */
bool heaps_take(struct heaps *heaps, struct heap *heap, uint64_t address,
		struct block *old_ret);

/*
 * How many records ahead of its use a block is prefetched: enough to cover
 * several cache misses.
 */
#define HEAPS_PREFETCH_DISTANCE 16

/*
 * Prefetch the block of a record that comes later, if the block is in heap 0.
 * Call this before record 'i' of 'n' changes the heaps.  The call is optional;
 * without it, sets of many live blocks are slower.
 */
static inline void
heaps_prefetch(const struct heaps *heaps, const struct hatf_record *records,
	       size_t n, size_t i)
{
	const struct block_set *const live = &heaps->first.live;
	const struct hatf_record *rec;

	if (n - i <= HEAPS_PREFETCH_DISTANCE)
		return;
	rec = &records[i + HEAPS_PREFETCH_DISTANCE];
	block_set_prefetch(live, rec->old_address == 0 ? rec->address
						       : rec->old_address);
}

#endif /* HATF_HEAPS_H */
