/* SPDX-License-Identifier: MIT */
/*
 * block_set.c - see block_set.h
 *
 * Both kinds of table have open addressing, linear probing, and removal that shifts
 * back what comes later in the run, as in live.c.
 */
#include "block_set.h"

#include <stdlib.h>
#include <string.h>

/* Of the pages, and of the blocks of a page. */
#define PAGES_MIN_SHIFT 4
#define BLOCK_MIN_SHIFT 1
#define BLOCK_MAX_SHIFT (BLOCK_PAGE_SHIFT + 1)

_Static_assert(sizeof(struct block) == 32, "two lie in a line of the cache");
_Static_assert(BLOCK_MIN_SHIFT + 5 >= SLAB_MIN_SHIFT &&
		       BLOCK_MAX_SHIFT + 5 <= SLAB_MAX_SHIFT,
	       "'slab' has arrays of any page");

void
block_set_init(struct block_set *blocks)
{
	*blocks = (struct block_set){ 0 };
	live_seed_init(&blocks->seed);
}

void
block_set_fini(struct block_set *blocks)
{
	free(blocks->pages);
	slab_fini(&blocks->slab);
	blocks->pages = NULL;
	blocks->page_shift = 0;
	blocks->page_count = blocks->count = 0;
}

/* -------------------------------------------------------------- one page */

static inline unsigned
place_of(uint64_t address)
{
	return (unsigned)(address % BLOCK_PAGE_NBYTES);
}

/* The slot that holds the block at a place, or the free one where it would go. */
static inline struct block *
seek(const struct block_page *page, unsigned place)
{
	const unsigned mask = (1u << page->shift) - 1;
	unsigned slot = block_set_home(place, page->shift);

	while (page->blocks[slot].place != place + 1 &&
	       page->blocks[slot].place != 0)
		slot = (slot + 1) & mask;
	return &page->blocks[slot];
}

/* May what belongs at 'home' not lie before 'slot', in the free slot 'hole'? */
static inline bool
stays(size_t home, size_t hole, size_t slot)
{
	/* Is 'home' in (hole, slot], counting round the end? */
	return hole < slot ? hole < home && home <= slot
			   : hole < home || home <= slot;
}

/* Fill the slot 'hole' with a later block of its run, as long as there is one. */
static void
close_hole(struct block_page *page, unsigned hole)
{
	struct block *const blocks = page->blocks;
	const unsigned mask = (1u << page->shift) - 1;
	unsigned slot = hole;

	for (;;) {
		slot = (slot + 1) & mask;
		if (blocks[slot].place == 0)
			break;
		if (!stays(block_set_home((unsigned)blocks[slot].place - 1,
					  page->shift),
			   hole, slot)) {
			blocks[hole] = blocks[slot];
			hole = slot;
		}
	}
	blocks[hole].place = 0;
}

/* Memory for 2^shift slots, all free; NULL if there is none. */
static struct block *
get_slots(struct slab *slab, unsigned shift)
{
	struct block *const slots = slab_get(slab, shift + 5);

	if (slots != NULL)
		memset(slots, 0, sizeof(*slots) << shift);
	return slots;
}

/* Give a page 2^shift slots; false if there is no memory. */
static bool
resize_page(struct slab *slab, struct block_page *page, unsigned shift)
{
	const struct block_page old = *page;
	struct block *const slots = get_slots(slab, shift);

	if (slots == NULL)
		return false;
	page->blocks = slots;
	page->shift = (uint16_t)shift;
	for (size_t i = 0; i < (size_t)1 << old.shift; i++)
		if (old.blocks[i].place != 0)
			*seek(page, (unsigned)old.blocks[i].place - 1) =
				old.blocks[i];
	slab_put(slab, old.blocks, old.shift + 5);
	return true;
}

/* ----------------------------------------------------------------- pages */

/* The slot of a page, or the free one where it would go; there must be slots. */
static inline struct block_page *
seek_page(const struct block_set *blocks, uint64_t number)
{
	const size_t mask = ((size_t)1 << blocks->page_shift) - 1;
	size_t slot = block_set_page_home(blocks, number);

	while (blocks->pages[slot].number != number &&
	       blocks->pages[slot].blocks != NULL)
		slot = (slot + 1) & mask;
	return &blocks->pages[slot];
}

static inline struct block_page *
find_page(const struct block_set *blocks, uint64_t address)
{
	struct block_page *page;

	if (blocks->count == 0)
		return NULL;
	page = seek_page(blocks, address >> BLOCK_PAGE_SHIFT);
	return page->blocks != NULL ? page : NULL;
}

/* Move the pages to a table with 2^shift slots; false if there is no memory. */
static bool
resize_pages(struct block_set *blocks, unsigned shift)
{
	struct block_set other = *blocks;
	const size_t slot_count =
		blocks->pages == NULL ? 0 : (size_t)1 << blocks->page_shift;

	other.pages = calloc((size_t)1 << shift, sizeof(*other.pages));
	if (other.pages == NULL)
		return false;
	other.page_shift = shift;
	for (size_t i = 0; i < slot_count; i++)
		if (blocks->pages[i].blocks != NULL)
			*seek_page(&other, blocks->pages[i].number) =
				blocks->pages[i];
	free(blocks->pages);
	blocks->pages = other.pages;
	blocks->page_shift = shift;
	return true;
}

/* Make sure that one more page leaves half of the slots free. */
static bool
make_room(struct block_set *blocks)
{
	if (blocks->pages == NULL)
		return resize_pages(blocks, PAGES_MIN_SHIFT);
	if (blocks->page_count < (size_t)1 << (blocks->page_shift - 1))
		return true;
	return resize_pages(blocks, blocks->page_shift + 1);
}

/* A page without a block; NULL if there is no memory. */
static struct block_page *
add_page(struct block_set *blocks, uint64_t number)
{
	struct block_page *page;
	struct block *slots;

	if (!make_room(blocks))
		return NULL;
	slots = get_slots(&blocks->slab, BLOCK_MIN_SHIFT);
	if (slots == NULL)
		return NULL;
	page = seek_page(blocks, number);
	*page = (struct block_page){ .number = number,
				     .blocks = slots,
				     .shift = BLOCK_MIN_SHIFT };
	blocks->page_count++;
	return page;
}

/* A page whose last block is gone. */
static void
remove_page(struct block_set *blocks, struct block_page *page)
{
	const size_t mask = ((size_t)1 << blocks->page_shift) - 1;
	size_t hole = (size_t)(page - blocks->pages);
	size_t slot = hole;

	slab_put(&blocks->slab, page->blocks, page->shift + 5u);
	for (;;) {
		slot = (slot + 1) & mask;
		if (blocks->pages[slot].blocks == NULL)
			break;
		if (!stays(block_set_page_home(blocks,
					       blocks->pages[slot].number),
			   hole, slot)) {
			blocks->pages[hole] = blocks->pages[slot];
			hole = slot;
		}
	}
	blocks->pages[hole] = (struct block_page){ 0 };
	blocks->page_count--;
	/* Without memory for a smaller table the large one will do. */
	if (blocks->page_shift > PAGES_MIN_SHIFT &&
	    blocks->page_count < (size_t)1 << (blocks->page_shift - 3))
		resize_pages(blocks, blocks->page_shift - 1);
}

/* ------------------------------------------------------------- operations */

struct block *
block_set_find(const struct block_set *blocks, uint64_t address)
{
	const struct block_page *const page = find_page(blocks, address);
	struct block *block;

	if (page == NULL)
		return NULL;
	block = seek(page, place_of(address));
	return block->place != 0 ? block : NULL;
}

struct block *
block_set_put(struct block_set *blocks, uint64_t address, bool *added_ret)
{
	const unsigned place = place_of(address);
	struct block_page *page = find_page(blocks, address);
	struct block *block;

	if (page == NULL) {
		page = add_page(blocks, address >> BLOCK_PAGE_SHIFT);
		if (page == NULL)
			return NULL;
	}
	block = seek(page, place);
	*added_ret = block->place == 0;
	if (!*added_ret)
		return block;
	/* A quarter of the slots stays free. */
	if (4u * page->count + 4 > 3u << page->shift) {
		if (page->shift < BLOCK_MAX_SHIFT &&
		    !resize_page(&blocks->slab, page, page->shift + 1u))
			return NULL;
		block = seek(page, place);
	}
	*block = (struct block){ .place = (place + 1) & UINT16_MAX };
	page->count++;
	blocks->count++;
	return block;
}

static inline void
remove_block(struct block_set *blocks, struct block_page *page,
	     struct block *block)
{
	blocks->count--;
	page->count--;
	if (page->count == 0) {
		remove_page(blocks, page);
		return;
	}
	close_hole(page, (unsigned)(block - page->blocks));
	/* Without memory for fewer slots these will do. */
	if (page->shift > BLOCK_MIN_SHIFT &&
	    page->count < 1u << page->shift >> 3)
		resize_page(&blocks->slab, page, page->shift - 1u);
}

void
block_set_remove(struct block_set *blocks, uint64_t address,
		 struct block *block)
{
	remove_block(blocks, find_page(blocks, address), block);
}

bool
block_set_take(struct block_set *blocks, uint64_t address,
	       struct block *old_ret)
{
	struct block_page *const page = find_page(blocks, address);
	struct block *block;

	if (page == NULL)
		return false;
	block = seek(page, place_of(address));
	if (block->place == 0)
		return false;
	*old_ret = *block;
	remove_block(blocks, page, block);
	return true;
}

struct block *
block_set_next(const struct block_set *blocks, struct block_walk *walk,
	       uint64_t *address_ret)
{
	if (blocks->pages == NULL)
		return NULL;
	for (; walk->page >> blocks->page_shift == 0; walk->page++) {
		const struct block_page *const page =
			&blocks->pages[walk->page];

		while (page->blocks != NULL && walk->slot >> page->shift == 0) {
			struct block *const block = &page->blocks[walk->slot++];

			if (block->place == 0)
				continue;
			*address_ret = page->number << BLOCK_PAGE_SHIFT |
				       (block->place - 1u);
			return block;
		}
		walk->slot = 0;
	}
	return NULL;
}

void
block_set_prefetch(const struct block_set *blocks, uint64_t address)
{
	const struct block_page *const page = find_page(blocks, address);

	if (page != NULL)
		__builtin_prefetch(&page->blocks[block_set_home(
			place_of(address), page->shift)]);
}
