/* SPDX-License-Identifier: MIT */
/*
 * heaps.h - the live blocks of every heap
 *
 * Each heap has a live set of its own, for a pool's block may have the address of
 * the block of heap 0 that the pool lives in, and destroying a heap ends all that
 * is in it.  Memory is O(live blocks + heaps that exist).
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
	uint64_t nbytes; /* of its live blocks */
};

struct heaps {
	struct heap first;    /* heap 0 */
	struct heap **others; /* in any order */
	size_t other_count, other_cap;
	struct u64_map index; /* id -> 'value' is the place in 'others' */
	struct ids ids;	      /* which exist */
	uint64_t live_count, live_nbytes;
	uint64_t peak_count, peak_nbytes;
};

/* A 'strict' trace creates its heaps before it uses them; see ids.h. */
void heaps_init(struct heaps *heaps, bool strict);
void heaps_fini(struct heaps *heaps);

/*
 * What is live from here on has no history: the object id is 0, the birth too.  The peaks
 * begin again.
 */
void heaps_clear_history(struct heaps *heaps);

/*
 * Keep of the blocks of heap 0 those that heaps_clear_history() has seen, and nothing
 * else.  False if there is no memory.
 */
bool heaps_keep_without_history(struct heaps *heaps);

/* How much of what heaps_clear_history() has seen is still in the heap 'id'. */
void heaps_sum_without_history(struct heaps *heaps, uint64_t id,
			       uint64_t *count_ret, uint64_t *nbytes_ret);

/* The heap with 'id', made if it is new; NULL if there is no memory. */
struct heap *heaps_get(struct heaps *heaps, uint64_t id);

/* Like heaps_get(), but makes none: NULL if it has never had a block. */
struct heap *heaps_find(struct heaps *heaps, uint64_t id);

/* All sets keep an order from here on (block_set.h); false if there is no memory. */
bool heaps_keep_order(struct heaps *heaps);

/* Everything in the heap 'id' dies. */
void heaps_clear(struct heaps *heaps, uint64_t id);

/*
 * A block lives at 'address' from here on, in place of what may have been there:
 * '*replaced_ret' tells, and '*lost_ret', unless it is NULL, is that block then.
 * False if there is no memory.
 */
bool heaps_put(struct heaps *heaps, struct heap *heap, uint64_t address,
	       const struct block *block, bool *replaced_ret,
	       struct block *lost_ret);

/* Remove the block at 'address', as it was into '*old_ret'; false if there is none. */
bool heaps_take(struct heaps *heaps, struct heap *heap, uint64_t address,
		struct block *old_ret);

/*
 * How far ahead the live set is loaded; several times that of one miss.
 */
#define HEAPS_PREFETCH_DISTANCE 16

/*
 * Record 'i' of 'n' is about to be entered: begin to load what those further on will
 * look for.  Who does not call it is slower where many blocks live.
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
