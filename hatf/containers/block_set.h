/* SPDX-License-Identifier: MIT */
/*
 * block_set.h - the set of live blocks, by address, for one look at each event
 *
 * Programs free what lies near to what they have just freed or allocated, and a
 * table of hashed addresses (u64_map.h) spreads that over all of its memory: each
 * event waits for a line or two from there.  So only pages are hashed here, of
 * BLOCK_PAGE_NBYTES of the addresses, and a page has a table of its own in
 * which blocks lie in the order of their addresses, two or three to a cache
 * line:
 *
 *	pages	| 0x7f12 |   0    | 0x55e0 | ...	24 bytes each, 1/8 to 1/2 full
 *		     |		      |
 *		     v		      v
 *		| A | - | B | C |  | D | - |		24 bytes each, 1/8 to 15/16 full
 *
 * The table of the pages is small enough to stay in the cache, and neighbours
 * among the blocks come in one line, or in the next.
 *
 * 24 bytes hold a block whose numbers are as programs have them.  A page with
 * one whose numbers are not (32 GiB, 2^40 events) has 32 bytes for each of its
 * blocks.
 *
 * Memory is O(most blocks that have lived at a time).  While the set grows page
 * by page, as heaps do, it is at most 32 bytes a block where a page has 32
 * blocks or more, about 60 where blocks come and go, at most 180 where each is
 * alone in its page; a few times that where pages grow side by side, or where
 * most blocks are dead.
 *
 * Blocks before and behind an address are found, too, if the set keeps an order of its
 * pages, which takes half a byte a page where pages lie side by side.
 *
 * The hash of the pages is seeded, see u64_map.h.  In a page, addresses that were
 * chosen to collide cost a search through a part of its blocks, of which it has
 * no more than bytes.
 */
#ifndef HATF_BLOCK_SET_H
#define HATF_BLOCK_SET_H

#include "hatf/containers/page_order.h"
#include "hatf/containers/slab.h"
#include "hatf/containers/u64_map.h"

#define BLOCK_PAGE_SHIFT  12
#define BLOCK_PAGE_NBYTES (1u << BLOCK_PAGE_SHIFT)

/* Numbers of events go up to this. */
#define BLOCK_EVENT_MAX (((uint64_t)1 << 48) - 1)

/* What is known of a live block, besides its address. */
struct block {
	uint64_t size;	 /* bytes asked for */
	uint64_t object; /* id */
	uint64_t birth_time;
	uint64_t birth_event; /* number, up to BLOCK_EVENT_MAX */
};

struct block_page {
	uint64_t number;     /* the address, less the place in the page */
	uint64_t *slots;     /* NULL: no page */
	uint16_t count;	     /* of blocks */
	uint16_t room;	     /* slots */
	uint8_t words;	     /* of a slot */
	uint8_t size_class;  /* of the array */
	bool churns : 1;     /* a block has been taken out of it */
	bool is_guessed : 1; /* it began with as many slots as one beside it */
	bool has_unaligned : 1; /* it has had a block whose place is no multiple of 16 */
};

/*
 * Invariant: a block lies at its home slot (of its page, see block_set.c) or
 * after it, with no free slot in between, counting round the end; the same goes
 * for pages.  A page has a block at least, and a free slot.
 */
struct block_set {
	struct block_page *pages; /* NULL: there are none */
	unsigned page_shift;	  /* there are 2^page_shift slots for them */
	size_t page_count;
	size_t count; /* of blocks */
	struct slab slab;
	struct u64_map_seed seed;
	bool keeps_order;
	struct page_order order; /* of the pages, if so */
};

/* An empty set; allocates nothing. */
void block_set_init(struct block_set *blocks);

/* Back to an empty set, without memory; it goes on to keep an order if it did. */
void block_set_fini(struct block_set *blocks);

/* Is there a block at 'address'?  If so, it is copied to '*block_ret'. */
bool block_set_find(const struct block_set *blocks, uint64_t address,
		    struct block *block_ret);

/*
 * A block is at 'address' from here on.  If there was one already, '*added_ret'
 * is false, and that is copied to '*old_ret' unless it is NULL.  False if there
 * is no memory, with the set unchanged.
 */
bool block_set_put(struct block_set *blocks, uint64_t address,
		   const struct block *block, bool *added_ret,
		   struct block *old_ret);

/* Remove the block at 'address', as it was into '*old_ret'; false if there is none. */
bool block_set_take(struct block_set *blocks, uint64_t address,
		    struct block *old_ret);

/* Keep an order of the pages from here on; false if there is no memory. */
bool block_set_keep_order(struct block_set *blocks);

/*
 * The last block before 'address', and the first one behind it, up to 'last', which is
 * no less; false if there is none.  Only for a set that keeps an order.
 */
bool block_set_before(const struct block_set *blocks, uint64_t address,
		      uint64_t *address_ret, struct block *block_ret);
bool block_set_after(const struct block_set *blocks, uint64_t address,
		     uint64_t last, uint64_t *address_ret,
		     struct block *block_ret);

/*
 * Where in a page of 'room' slots the search for a place begins.  Places of
 * aligned blocks keep their order; those between them, which only numbers that
 * stand for addresses have, are spread over the page, as they come in dense
 * runs.
 */
static inline unsigned
block_set_home(unsigned place, unsigned room)
{
	const unsigned spread =
		(place + (place % 16) * 272) % BLOCK_PAGE_NBYTES;

	return spread * room >> BLOCK_PAGE_SHIFT;
}

/* Where the search for a page begins; there must be slots. */
static inline size_t
block_set_page_home(const struct block_set *blocks, uint64_t number)
{
	return (size_t)(u64_map_seed_hash(&blocks->seed, number) >>
			(64 - blocks->page_shift));
}

/* Where a walk through the set is; all 0 at first. */
struct block_walk {
	size_t page, slot;
};

/*
 * The next block, in an order that is another in each process; false if there
 * is none.  In between nothing may be put or taken, but for another block with
 * smaller numbers at the address of one.
 */
bool block_set_next(const struct block_set *blocks, struct block_walk *walk,
		    uint64_t *address_ret, struct block *block_ret);

/* Begin to load what block_set_find() will look at. */
void block_set_prefetch(const struct block_set *blocks, uint64_t address);

#endif /* HATF_BLOCK_SET_H */
