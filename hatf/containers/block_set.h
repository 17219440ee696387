/* SPDX-License-Identifier: MIT */
/*
 * block_set.h - the set of live blocks, by address, one look-up per event
 *
 * Programs free blocks near those that they have just freed or allocated.  A
 * table of hashed addresses (u64_map.h) scatters such neighbours over all of
 * its memory, and every event misses the cache once or twice.  So this file
 * hashes only pages, ranges of BLOCK_PAGE_NBYTES addresses.  Each page has a
 * table of its own, where blocks are in the order of their addresses, two or
 * three in a cache line:
 *
 *	pages	| 0x7f12 |   0    | 0x55e0 | ...  24 bytes each,
 *						  1/8 to 1/2 full
 *		     |		      |
 *		     v		      v
 *		| A | - | B | C |  | D | - |	  24 bytes each,
 *						  1/8 to 15/16 full
 *
 * The table of pages is small enough to stay in the cache.  Neighbouring blocks
 * share a cache line or are in adjacent ones.
 *
 * A slot has 24 bytes if the size of its block is below 32 GiB, and the object
 * and event numbers of the block are below 2^40.  A page that holds or has held
 * a block beyond these limits has slots of 32 bytes.
 *
 * Memory is O(peak number of live blocks).  A set usually grows page by page,
 * as a heap does.  In such a set, a block, with its share of the free slots,
 * takes
 *
 *   - at most 32 bytes if its page has 32 blocks or more,
 *   - about 60 bytes if blocks come and go in its page,
 *   - at most 180 bytes if it is alone in its page.
 *
 * These figures are a few times higher if many pages grow at the same time, or
 * after most blocks have been freed.
 *
 * A set that keeps its pages in order can also find the neighbours of an
 * address.  The order takes half a byte for each page if pages are adjacent.
 *
 * The hash of the pages is seeded, see u64_map.h.  Within a page, an attacker
 * can choose addresses that collide.  In the worst case, a look-up searches all
 * blocks of one page, at most BLOCK_PAGE_NBYTES blocks.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_BLOCK_SET_H
#define HATF_BLOCK_SET_H

#include "hatf/containers/page_order.h"
#include "hatf/containers/slab.h"
#include "hatf/containers/u64_map.h"

#define BLOCK_PAGE_SHIFT  12
#define BLOCK_PAGE_NBYTES (1u << BLOCK_PAGE_SHIFT)

/* The largest event number that a block can have. */
#define BLOCK_EVENT_MAX (((uint64_t)1 << 48) - 1)

/* A live block, without its address. */
struct block {
	uint64_t size;	 /* number of bytes that the program asked for */
	uint64_t object; /* id of the object */
	uint64_t birth_time;
	/*
	 * number of the event that allocated the block, at most BLOCK_EVENT_MAX
	 */
	uint64_t birth_event;
	/* the number of the block, see numbered_blocks.h; 0 in a block set */
	uint32_t number;
};

struct block_page {
	/* address of the page, divided by BLOCK_PAGE_NBYTES */
	uint64_t number;
	uint64_t *slots;    /* NULL: the entry has no page */
	uint16_t count;	    /* number of blocks in the page */
	uint16_t room;	    /* number of slots of the page */
	uint8_t words;	    /* length of a slot in 64-bit words */
	uint8_t size_class; /* slab class of 'slots' */
	bool churns : 1;    /* blocks have been removed from the page */
	/* 'room' was chosen to suit the blocks of a neighbouring page */
	bool is_guessed : 1;
	/* the page has had a block whose address is not a multiple of 16 */
	bool has_unaligned : 1;
};

/*
 * Invariant: a block is in its home slot (see block_set_home()) or in a later
 * one, with no free slot in between, wrapping around at the end.  In the same
 * way, each page is in its home slot of 'pages' or in a later one.  A page has
 * at least one block and one free slot.
 */
struct block_set {
	struct block_page *pages; /* NULL if there are no pages */
	unsigned page_shift;	  /* log2 of the number of slots in 'pages' */
	size_t page_count;
	size_t count; /* number of live blocks */
	struct slab slab;
	struct u64_map_seed seed;
	bool keeps_order;
	/* sorted numbers of the pages; used if 'keeps_order' is set */
	struct page_order order;
};

/* Make an empty set.  Allocate nothing. */
void block_set_init(struct block_set *blocks);

/* Make the set empty and free its memory.  'keeps_order' stays as it is. */
void block_set_fini(struct block_set *blocks);

/*
 * Copy the data of the block at 'address' to '*block_ret'.  Return false if
 * there is no block.
 */
bool block_set_find(const struct block_set *blocks, uint64_t address,
		    struct block *block_ret);

/*
 * Add a block, or replace the block at 'address'.  '*added_ret' is true if the
 * block was added.  Copy a replaced block to '*old_ret' unless 'old_ret' is
 * NULL.  Return false, with the set unchanged, if there is no memory.
 */
bool block_set_put(struct block_set *blocks, uint64_t address,
		   const struct block *block, bool *added_ret,
		   struct block *old_ret);

/*
 * Remove the block at 'address', and copy its data to '*old_ret'.  Return false
 * if there is no block.
 */
bool block_set_take(struct block_set *blocks, uint64_t address,
		    struct block *old_ret);

/* From now on keep the pages in order.  Return false if there is no memory. */
bool block_set_keep_order(struct block_set *blocks);

/*
 * block_set_before() finds the last block before 'address'.  block_set_after()
 * finds the first block after 'address' that begins at or before 'last'.
 * Return false if there is no such block.
 * Precondition: the set keeps its pages in order.
 */
bool block_set_before(const struct block_set *blocks, uint64_t address,
		      uint64_t *address_ret, struct block *block_ret);
bool block_set_after(const struct block_set *blocks, uint64_t address,
		     uint64_t last, uint64_t *address_ret,
		     struct block *block_ret);

/*
 * Return the home slot of a block: the slot where a search for it begins.
 * 'place' is the offset of the block's address in its page, and 'room' the
 * number of slots in the table of the page.  Places that are multiples of 16
 * have home slots in the order of the places.  Other places occur mostly in
 * traces whose addresses are serial numbers.  In such traces, many consecutive
 * places are in use, so this function spreads their home slots over the page.
 */
static inline unsigned
block_set_home(unsigned place, unsigned room)
{
	const unsigned spread =
		(place + (place % 16) * 272) % BLOCK_PAGE_NBYTES;

	return spread * room >> BLOCK_PAGE_SHIFT;
}

/*
 * Return the slot where the search for a page begins.  The set must have pages.
 */
static inline size_t
block_set_page_home(const struct block_set *blocks, uint64_t number)
{
	return (size_t)(u64_map_seed_hash(&blocks->seed, number) >>
			(64 - blocks->page_shift));
}

/*
 * The position of a walk through the blocks of a set.  Zero it before the walk.
 */
struct block_walk {
	size_t page, slot;
};

/*
 * Return the next block of a walk; false if there is none.  The order differs
 * from process to process.  During a walk the caller must not add or remove
 * blocks.  The caller may replace a block, but not by one with a larger size,
 * object or event number, which could move the blocks of the page to longer
 * slots.
 */
bool block_set_next(const struct block_set *blocks, struct block_walk *walk,
		    uint64_t *address_ret, struct block *block_ret);

/* Prefetch the slot that block_set_find() will look at first. */
void block_set_prefetch(const struct block_set *blocks, uint64_t address);

#endif /* HATF_BLOCK_SET_H */
