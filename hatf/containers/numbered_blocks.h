/* SPDX-License-Identifier: MIT */
/*
 * numbered_blocks.h - the set of live blocks, by address, with small numbers
 *
 * Like a block set (block_set.h), but each block has a number.  No two live
 * blocks have the same number, and a new block takes the free number that was
 * freed last, or the number after the highest one if no number is free.  So the
 * users of a set can keep what they know of a block in an array, with the
 * number as the index.  A look-up is faster than in a block set, but the set
 * takes more memory.
 *
 * The numbers are the indices of 'rows'.  To find the number of the block at an
 * address, look up the page of the address in a hash table.  A page is a group
 * of 1024 addresses, and the position of an address in its page is its place.
 * The page has an array of numbers, one for each 2^shift places.  If several
 * blocks share an entry, their rows form a chain:
 *
 *	numbers		| a | 0 | b | 0 | c | ...	16 to 1024 entries
 *				  |
 *	next		  a: -	  b: d	  d: -	  c: -
 *
 * When a new block would share an entry, the array is doubled, unless it has
 * more than six entries for each block.  So nearly all look-ups find their
 * block at once, and a chain has at most 16 blocks.
 *
 * Addresses that are multiples of 16, as allocators return, are grouped by
 * their upper bits: a page of such addresses covers 16 KiB.  Other addresses
 * occur mostly in traces that have serial numbers in place of addresses.
 * numbered_key() makes dense serial numbers fill their pages, too.
 *
 * A block takes 40 bytes in the arrays 'rows', 'next' and 'free_rows'.  In
 * addition, its entry in 'numbers', with its share of the empty entries, takes
 * 3 to 8 bytes where blocks are evenly spaced, at most 50 in most other pages,
 * and about 120 if the block is alone in its page.  Memory is O(peak number of
 * live blocks).
 *
 * The hash of the pages is seeded, see u64_map.h.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_NUMBERED_BLOCKS_H
#define HATF_NUMBERED_BLOCKS_H

#include "hatf/containers/block_set.h"

#define NUMBERED_PLACE_BITS 10
#define NUMBERED_PLACES	    (1u << NUMBERED_PLACE_BITS)

/*
 * Return the key of an address.  The low NUMBERED_PLACE_BITS bits of the key
 * are the place of the address in its page, and the other bits are the number
 * of the page.  The low four bits of the address become the highest bits of the
 * key, so addresses that differ only in these bits are in different pages.
 */
static inline uint64_t
numbered_key(uint64_t address)
{
	return address >> 4 | address << 60;
}

static inline uint64_t
numbered_address(uint64_t key)
{
	return key << 4 | key >> 60;
}

/* A live block, without the number of its page. */
struct numbered_row {
	uint64_t size, object, birth_time;
	/*
	 * number of the event, place in the page, and NUMBERED_HAS_NEXT if the
	 * chain goes on
	 */
	uint64_t event_and_place;
};

#define NUMBERED_PLACE_SHIFT 48
#define NUMBERED_HAS_NEXT    ((uint64_t)1 << 63)

struct numbered_page {
	/* the result of numbered_page_of() for each block of the page */
	uint64_t number;
	/*
	 * numbers[place >> shift] is the number of the first block of a chain;
	 * 0: no block
	 */
	uint32_t *numbers;
	uint16_t count; /* number of blocks; 0: the entry has no page */
	uint8_t shift;
};

/* A future look-up, see numbered_blocks_prefetch_page(). */
struct numbered_ahead {
	const uint32_t *number; /* where the number of the block may be */
	size_t hint;
};

#define NUMBERED_AHEAD 32 /* must be a power of two */

/*
 * Invariant: a page is in its home slot of 'pages' or in a later one, with no
 * free slot in between, wrapping around at the end.
 */
struct numbered_blocks {
	struct numbered_page *pages; /* NULL if there are no pages */
	unsigned page_shift; /* log2 of the number of slots in 'pages' */
	size_t page_count;
	size_t entry_count; /* sum of the lengths of all arrays 'numbers' */
	/*
	 * The slot where the next search for a page looks first.  If the page
	 * is there, the search need not compute a hash.  Any value is allowed,
	 * because the search checks it.
	 */
	size_t hint;
	size_t count; /* number of live blocks */
	/* rows 1 to 'row_count'; row 0 is not used; aligned to cache lines */
	struct numbered_row *rows;
	uint32_t row_count, row_cap;
	/* for each row with NUMBERED_HAS_NEXT, the next block of its chain */
	uint32_t *next;
	/* numbers of free rows, the last one freed at the end */
	uint32_t *free_rows;
	uint32_t free_count;
	struct numbered_ahead ahead[NUMBERED_AHEAD];
	struct slab slab;
	struct u64_map_seed seed;
};

/* Make an empty set.  Allocate nothing. */
void numbered_blocks_init(struct numbered_blocks *blocks);

/* Make the set empty and free its memory. */
void numbered_blocks_fini(struct numbered_blocks *blocks);

/*
 * Copy the data of the block at 'address' to '*block_ret'.  Return false if
 * there is no block.
 */
bool numbered_blocks_find(struct numbered_blocks *blocks, uint64_t address,
			  struct block *block_ret);

/*
 * Add a block, or replace the block at 'address', whose number the new block
 * keeps.  Set block->number.  '*added_ret' is true if the block was added.  A
 * replaced block is copied to '*old_ret'.  Return false, with the set
 * unchanged, if there is no memory, or if all numbers are in use.
 */
bool numbered_blocks_put(struct numbered_blocks *blocks, uint64_t address,
			 struct block *block, bool *added_ret,
			 struct block *old_ret);

/*
 * Remove the block at 'address', and copy its data to '*old_ret'.  Return false
 * if there is no block.
 */
bool numbered_blocks_take(struct numbered_blocks *blocks, uint64_t address,
			  struct block *old_ret);

/* Replace the data of the live block that has the number block->number. */
static inline void
numbered_blocks_set(struct numbered_blocks *blocks, const struct block *block)
{
	struct numbered_row *const row = &blocks->rows[block->number];

	row->size = block->size;
	row->object = block->object;
	row->birth_time = block->birth_time;
	row->event_and_place &= ~BLOCK_EVENT_MAX;
	row->event_and_place |= block->birth_event;
}

/* The position of a walk through the blocks.  Zero it before the walk. */
struct numbered_walk {
	size_t page, entry;
	/* number of the next block in the present chain; 0: none */
	uint32_t next;
};

/*
 * Return the next block of a walk; false if there is none.  The order differs
 * from process to process.  During a walk the caller must not add or remove
 * blocks.
 */
bool numbered_blocks_next(const struct numbered_blocks *blocks,
			  struct numbered_walk *walk, uint64_t *address_ret,
			  struct block *block_ret);

static inline uint64_t
numbered_page_of(uint64_t address)
{
	return numbered_key(address) >> NUMBERED_PLACE_BITS;
}

static inline unsigned
numbered_place_of(uint64_t address)
{
	return (unsigned)(numbered_key(address) % NUMBERED_PLACES);
}

static inline size_t
numbered_home_of(const struct numbered_blocks *blocks, uint64_t number)
{
	return (size_t)(u64_map_seed_hash(&blocks->seed, number) >>
			(64 - blocks->page_shift));
}

/*
 * Return the slot of a page in the table of pages, or the free slot where the
 * page belongs.  The set must have a table.
 */
static inline size_t
numbered_seek_home(const struct numbered_blocks *blocks, uint64_t number)
{
	const size_t mask = ((size_t)1 << blocks->page_shift) - 1;
	const struct numbered_page *const pages = blocks->pages;
	size_t slot = numbered_home_of(blocks, number);

	while (pages[slot].number != number && pages[slot].count != 0)
		slot = (slot + 1) & mask;
	return slot;
}

/*
 * Prefetch what look-up number 'i', which comes later, will need.  There are
 * two steps: numbered_blocks_prefetch_page() prefetches the number of the
 * block; some look-ups later, numbered_blocks_prefetch_row() prefetches the row
 * of the block.  Directly before look-up 'i', call numbered_blocks_use_hint().
 * Fewer than NUMBERED_AHEAD look-ups may come between the first step and
 * look-up 'i'.
 */
static inline __attribute__((always_inline)) void
numbered_blocks_prefetch_page(struct numbered_blocks *blocks, size_t i,
			      uint64_t address)
{
	struct numbered_ahead *const ahead = &blocks->ahead[i % NUMBERED_AHEAD];
	const struct numbered_page *page;

	ahead->number = NULL;
	if (blocks->count == 0)
		return;
	ahead->hint = numbered_seek_home(blocks, numbered_page_of(address));
	page = &blocks->pages[ahead->hint];
	if (page->count == 0)
		return;
	ahead->number =
		&page->numbers[numbered_place_of(address) >> page->shift];
	__builtin_prefetch(ahead->number, 1);
}

static inline __attribute__((always_inline)) void
numbered_blocks_prefetch_row(const struct numbered_blocks *blocks, size_t i)
{
	const uint32_t *const number = blocks->ahead[i % NUMBERED_AHEAD].number;

	/*
	 * '*number' may have changed since numbered_blocks_prefetch_page(), but
	 * prefetching a wrong row does no harm.  Even if the page's array was
	 * freed, its memory still belongs to the slab, so '*number' can be
	 * read.
	 */
	if (number != NULL)
		__builtin_prefetch(&blocks->rows[*number], 1);
}

static inline void
numbered_blocks_use_hint(struct numbered_blocks *blocks, size_t i)
{
	blocks->hint = blocks->ahead[i % NUMBERED_AHEAD].hint;
}

#endif /* HATF_NUMBERED_BLOCKS_H */
