/* SPDX-License-Identifier: MIT */
/*
 * heaps.h - the live blocks of every heap
 *
 * Each heap has a set of live blocks of its own, for two reasons.  A block of a
 * pool may have the same address as the block of heap 0 that contains the pool.
 * And if a heap is destroyed, all of its blocks are freed.  Memory is O(peak
 * number of live blocks + heaps that ever existed).  Used by one thread at a
 * time.
 *
 * After heaps_number_blocks(), the sets number their blocks.
 *
 * Invariant: 'live_count' and 'live_nbytes' are sums over all sets.
 */
#ifndef HATF_HEAPS_H
#define HATF_HEAPS_H

#include "hatf/containers/block_set.h"
#include "hatf/containers/ids.h"
#include "hatf/containers/numbered_blocks.h"
#include "hatf/containers/u64_map.h"
#include "hatf/hatf.h"

struct heap {
	uint64_t id;
	union {
		struct block_set live;
		/* used if 'numbers_blocks' of the heaps is set */
		struct numbered_blocks numbered;
	};
	uint64_t nbytes; /* sum of the sizes of the heap's live blocks */
};

struct heaps {
	struct heap first;    /* heap 0, the heap of malloc() */
	struct heap **others; /* all other heaps, in any order */
	size_t other_count, other_cap;
	struct u64_map index; /* maps an id to 'value', the index in 'others' */
	struct ids ids;	      /* which heaps exist or have existed */
	bool numbers_blocks;
	uint64_t live_count, live_nbytes;
	uint64_t peak_count, peak_nbytes;
};

/*
 * Start without blocks.  In a 'strict' trace, a record must create each heap
 * before other records use it (see ids.h).
 */
void heaps_init(struct heaps *heaps, bool strict);

/*
 * From now on number the blocks of each heap (numbered_blocks.h).  Return true
 * also if the heaps already number their blocks.  Return false, with the heaps
 * unchanged, if it is too late to begin: a block is live, a heap other than
 * heap 0 exists, or the heaps keep an order.
 */
bool heaps_number_blocks(struct heaps *heaps);

/* Free all heaps. */
void heaps_fini(struct heaps *heaps);

/*
 * Forget the history of all live blocks: set their object id and their birth to
 * 0.  Set the peaks to the present number and total size of the live blocks.
 */
void heaps_clear_history(struct heaps *heaps);

/*
 * Keep only those blocks of heap 0 that no event has touched since
 * heaps_clear_history(), and remove all other blocks and heaps.  After this
 * call, the heaps are not strict and keep no order.  Return false if memory
 * runs out; in this case, some blocks are lost.
 */
bool heaps_keep_without_history(struct heaps *heaps);

/*
 * Return the number and the total size in bytes of those blocks in heap 'id'
 * that no event has touched since heaps_clear_history().
 */
void heaps_sum_without_history(struct heaps *heaps, uint64_t id,
			       uint64_t *count_ret, uint64_t *nbytes_ret);

/*
 * Return the heap 'id'.  Create it if it does not exist.  Return NULL if there
 * is no memory.
 */
struct heap *heaps_get(struct heaps *heaps, uint64_t id);

/* Like heaps_get(), but return NULL if the heap does not exist. */
struct heap *heaps_find(struct heaps *heaps, uint64_t id);

/*
 * From now on keep the pages of all sets in order (block_set.h).  Return false
 * if there is no memory.  Precondition: the heaps do not number their blocks.
 */
bool heaps_keep_order(struct heaps *heaps);

/* Remove all blocks of heap 'id', and the heap itself unless it is heap 0. */
void heaps_clear(struct heaps *heaps, uint64_t id);

/* Update the peaks.  The sum of sizes may wrap, like all numbers of HATF. */
static inline void
heaps_note_peak(struct heaps *heaps)
{
	if (heaps->live_count > heaps->peak_count)
		heaps->peak_count = heaps->live_count;
	if (heaps->live_nbytes > heaps->peak_nbytes)
		heaps->peak_nbytes = heaps->live_nbytes;
}

/*
 * Add a block, or replace the block at 'address'.  '*replaced_ret' is true if a
 * block was replaced.  Copy a replaced block to '*lost_ret', unless 'lost_ret'
 * is NULL.  If the heaps number their blocks, set block->number.  Return false
 * if there is no memory.
 */
static inline bool
heaps_put(struct heaps *heaps, struct heap *heap, uint64_t address,
	  struct block *block, bool *replaced_ret, struct block *lost_ret)
{
	uint64_t nbytes = block->size;
	struct block old;
	bool added;

	if (!(heaps->numbers_blocks
		      ? numbered_blocks_put(&heap->numbered, address, block,
					    &added, &old)
		      : block_set_put(&heap->live, address, block, &added,
				      &old)))
		return false;
	if (!added) {
		nbytes -= old.size;
		if (lost_ret != NULL)
			*lost_ret = old;
	}
	heap->nbytes += nbytes;
	heaps->live_nbytes += nbytes;
	heaps->live_count += added;
	heaps_note_peak(heaps);
	*replaced_ret = !added;
	return true;
}

/*
 * Remove the block at 'address' and copy it to '*old_ret'.  Return false if
 * there is none.
 */
static inline bool
heaps_take(struct heaps *heaps, struct heap *heap, uint64_t address,
	   struct block *old_ret)
{
	if (!(heaps->numbers_blocks
		      ? numbered_blocks_take(&heap->numbered, address, old_ret)
		      : block_set_take(&heap->live, address, old_ret)))
		return false;
	heap->nbytes -= old_ret->size;
	heaps->live_count--;
	heaps->live_nbytes -= old_ret->size;
	return true;
}

/*
 * Copy the data of the block at 'address' to '*block_ret'.  Return false if
 * there is none.
 */
static inline bool
heaps_find_block(const struct heaps *heaps, struct heap *heap, uint64_t address,
		 struct block *block_ret)
{
	return heaps->numbers_blocks
		       ? numbered_blocks_find(&heap->numbered, address,
					      block_ret)
		       : block_set_find(&heap->live, address, block_ret);
}

/*
 * The position of a walk through the blocks of a heap, see block_set_next() and
 * numbered_blocks_next().  Zero it before the walk.
 */
struct heaps_walk {
	struct block_walk live;
	struct numbered_walk numbered;
};

static inline bool
heaps_next_block(const struct heaps *heaps, const struct heap *heap,
		 struct heaps_walk *walk, uint64_t *address_ret,
		 struct block *block_ret)
{
	return heaps->numbers_blocks
		       ? numbered_blocks_next(&heap->numbered, &walk->numbered,
					      address_ret, block_ret)
		       : block_set_next(&heap->live, &walk->live, address_ret,
					block_ret);
}

/*
 * A block is prefetched this many records before its use.  Handling so many
 * records takes longer than several cache misses, so the block arrives in time.
 */
#define HEAPS_PREFETCH_DISTANCE 16

/*
 * Prefetch the block of record i + HEAPS_PREFETCH_DISTANCE, if there is such a
 * record.  Assume that the block is in heap 0.  Call this before record 'i' of
 * 'n' changes the heaps.  The call is optional; without it, sets of many live
 * blocks are slower.
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

/*
 * The row of a block (numbered_blocks.h) is prefetched this many records before
 * its use.
 */
#define HEAPS_ROW_DISTANCE 8

/*
 * Prefetch the page of the block of record 'i', which the caller handles later.
 * Assume that the block is in heap 0.  The heaps must number their blocks.
 */
static inline void
heaps_prefetch_page(struct heaps *heaps, const struct hatf_record *records,
		    size_t i)
{
	const struct hatf_record *const rec = &records[i];

	numbered_blocks_prefetch_page(&heaps->first.numbered, i,
				      rec->old_address == 0 ? rec->address
							    : rec->old_address);
}

/*
 * If the heaps number their blocks, prefetch the pages of the first records.
 * Call this for each array of records, before heaps_look_ahead() for the first
 * record of the array.
 */
static inline void
heaps_look_at_first(struct heaps *heaps, const struct hatf_record *records,
		    size_t n)
{
	if (heaps->numbers_blocks)
		for (size_t i = 0; i < n && i < HEAPS_PREFETCH_DISTANCE; i++)
			heaps_prefetch_page(heaps, records, i);
}

/* Like heaps_prefetch(), but for heaps that may number their blocks. */
static inline void
heaps_look_ahead(struct heaps *heaps, const struct hatf_record *records,
		 size_t n, size_t i)
{
	struct numbered_blocks *const blocks = &heaps->first.numbered;

	if (!heaps->numbers_blocks) {
		heaps_prefetch(heaps, records, n, i);
		return;
	}
	if (n - i > HEAPS_PREFETCH_DISTANCE)
		heaps_prefetch_page(heaps, records,
				    i + HEAPS_PREFETCH_DISTANCE);
	if (n - i > HEAPS_ROW_DISTANCE)
		numbered_blocks_prefetch_row(blocks, i + HEAPS_ROW_DISTANCE);
	numbered_blocks_use_hint(blocks, i);
}

#endif /* HATF_HEAPS_H */
