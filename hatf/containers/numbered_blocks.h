/* SPDX-License-Identifier: MIT */
/*
 * numbered_blocks.h - the set of live blocks, by address, with small numbers
 *
 * Like a block set (block_set.h), but each block has a number.  No two live
 * blocks have the same number, and a new block takes the number that was freed
 * last.  So the users of a set can keep what they know of a block in an array,
 * with the number as the index.  A look-up is faster than in a block set, and
 * takes more memory.
 *
 * The numbers are the indices of 'rows'.  To find the number of an address,
 * look up its page, a group of 256 places, in a hash table.  The page has the
 * numbers of its blocks in one of three shapes:
 *
 *	one	the page's only block; no array
 *	few	| number | number | ... | place | place | ...	up to 12 blocks
 *	all	| number or 0 | number or 0 | ...		for each place
 *
 * Addresses that are multiples of 16, as allocators return, are grouped by
 * their upper bits: a page then has 4096 addresses.  Other addresses occur
 * mostly in traces that have serial numbers in place of addresses; the place of
 * an address is such that dense numbers fill their pages, too (see
 * numbered_key()).
 *
 * A block takes 32 bytes for its row, 4 for a free number, and for its number 4
 * bytes in a full page, 10 to 32 in pages with 32 to 100 blocks, and about 100
 * if it is alone in its page.  Memory is O(peak number of live blocks).
 *
 * The hash of the pages is seeded, see u64_map.h.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_NUMBERED_BLOCKS_H
#define HATF_NUMBERED_BLOCKS_H

#include "hatf/containers/block_set.h"

#define NUMBERED_PLACE_BITS 8
#define NUMBERED_PLACES	    (1u << NUMBERED_PLACE_BITS)

/* A live block, without its address. */
struct numbered_row {
	uint64_t size, object, birth_time, birth_event;
};

enum numbered_shape {
	NUMBERED_ONE,
	NUMBERED_FEW,
	NUMBERED_ALL
};

struct numbered_page {
	uint64_t number; /* keys of the page, without the place */
	/* the array of the page; NULL in the shape 'one' */
	void *array;
	uint32_t only;	/* in the shape 'one': the number of the block */
	uint16_t count; /* number of blocks; 0: the entry has no page */
	uint8_t place;	/* in the shape 'one': the place of the block */
	uint8_t shape;
};

/*
 * Invariant: a page is in its home slot of 'pages' or in a later one, with no
 * free slot in between, wrapping around at the end.
 */
struct numbered_blocks {
	struct numbered_page *pages; /* NULL if there are no pages */
	unsigned page_shift; /* log2 of the number of slots in 'pages' */
	size_t page_count;
	/*
	 * Where the next search for a page begins.  Any value is allowed; the
	 * slot of the page saves the hash.
	 */
	size_t hint;
	size_t count; /* number of live blocks */
	/* rows 1 to 'row_count'; row 0 is not used; aligned to cache lines */
	struct numbered_row *rows;
	uint32_t row_count, row_cap;
	/* numbers of free rows, the last one freed at the end */
	uint32_t *free_rows;
	uint32_t free_count;
	struct slab slab;
	struct u64_map_seed seed;
};

/* Make an empty set.  Allocate nothing. */
void numbered_blocks_init(struct numbered_blocks *blocks);

/* Make the set empty and free its memory. */
void numbered_blocks_fini(struct numbered_blocks *blocks);

/*
 * Copy the data of the block at 'address' to '*block_ret'; false if there is no
 * block.
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
 * Remove the block at 'address', and copy its data to '*old_ret'; false if
 * there is no block.
 */
bool numbered_blocks_take(struct numbered_blocks *blocks, uint64_t address,
			  struct block *old_ret);

/*
 * Replace the data of a live block, found by block->number.
 */
static inline void
numbered_blocks_set(struct numbered_blocks *blocks, const struct block *block)
{
	blocks->rows[block->number] = (struct numbered_row){
		.size = block->size,
		.object = block->object,
		.birth_time = block->birth_time,
		.birth_event = block->birth_event,
	};
}

/* The position of a walk through the blocks.  Zero it before the walk. */
struct numbered_walk {
	size_t page;
	unsigned place;
};

/*
 * Return the next block of a walk; false if there is none.  The order differs
 * from process to process.  During a walk the caller must not add or remove
 * blocks.
 */
bool numbered_blocks_next(const struct numbered_blocks *blocks,
			  struct numbered_walk *walk, uint64_t *address_ret,
			  struct block *block_ret);

/*
 * Prefetch in two steps, some look-ups apart: first the array of the address's
 * page, then the row of the block.  The first step returns a value for 'hint',
 * which the second step takes.  Set blocks->hint to it before the look-up.
 */
size_t numbered_blocks_prefetch_page(const struct numbered_blocks *blocks,
				     uint64_t address);
void numbered_blocks_prefetch_row(const struct numbered_blocks *blocks,
				  uint64_t address, size_t hint);

/*
 * Return the key of an address: the number of its page, and its place in it.
 * The low four bits of the address become the highest of the key, so addresses
 * that differ only there are in different pages.
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

#endif /* HATF_NUMBERED_BLOCKS_H */
