/* SPDX-License-Identifier: MIT */
/*
 * block_slot.h - the slots of a page of blocks: for block_set.c and
 * block_order.c
 *
 * A slot has three 64-bit words, or four if the page has had a block that does
 * not fit into three words.  The last word is 0 if the slot is free.
 * Otherwise, its upper bits are the place of the block plus 1; the place is the
 * offset of the block in the page.  In these pictures, the birth of a block is
 * the event that allocated the block:
 *
 * 	     63                   51 50      40 39                   0
 * 	0   |                     time of birth                       |
 * 	1   | size, low 24 bits       |          object               |
 * 	2   | place plus 1 |  size, high 11 bits |   number of birth  |
 *
 * 	0   |                     time of birth                       |
 * 	1   |                         object                          |
 * 	2   |                         size                            |
 * 	3   | place plus 1 |      number of birth, 48 bits            |
 */
#ifndef HATF_BLOCK_SLOT_H
#define HATF_BLOCK_SLOT_H

#include "hatf/containers/block_set.h"

#define BLOCK_SLOT_NARROW_WORDS 3
#define BLOCK_SLOT_WIDE_WORDS	4
#define BLOCK_SLOT_PLACE_SHIFT	51
/* in a slot of three words, an object's id and an event number have 40 bits */
#define BLOCK_SLOT_NARROW_BITS 40
/* in a slot of three words, this many low bits of the size are in word 1 */
#define BLOCK_SLOT_LOW_BITS  24
#define BLOCK_SLOT_HIGH_BITS 11

_Static_assert(BLOCK_SLOT_LOW_BITS + BLOCK_SLOT_NARROW_BITS == 64 &&
		       BLOCK_SLOT_NARROW_BITS + BLOCK_SLOT_HIGH_BITS ==
			       BLOCK_SLOT_PLACE_SHIFT &&
		       BLOCK_EVENT_MAX >> BLOCK_SLOT_PLACE_SHIFT == 0 &&
		       BLOCK_PAGE_NBYTES < 1 << (64 - BLOCK_SLOT_PLACE_SHIFT),
	       "the fields of a slot must fit into its words");

/* Return the place of an address, which is its offset in its page. */
static inline unsigned
block_slot_place_of(uint64_t address)
{
	return (unsigned)(address % BLOCK_PAGE_NBYTES);
}

/* Return slot number 'i' of a page. */
static inline uint64_t *
block_slot_at(const struct block_page *page, unsigned i)
{
	return page->slots + (size_t)i * page->words;
}

/*
 * Return the offset in the page of the block in this slot, plus 1; 0 if the
 * slot is free.
 */
static inline unsigned
block_slot_get_place(const struct block_page *page, const uint64_t *slot)
{
	return (unsigned)(slot[page->words - 1] >> BLOCK_SLOT_PLACE_SHIFT);
}

/* Return the 'count' low bits of 'n'; 'count' is less than 64. */
static inline uint64_t
block_slot_low_bits(uint64_t n, unsigned count)
{
	return n & (((uint64_t)1 << count) - 1);
}

/* Read the block in a slot that is in use. */
static inline void
block_slot_get(const struct block_page *page, const uint64_t *slot,
	       struct block *ret)
{
	ret->birth_time = slot[0];
	ret->number = 0;
	if (page->words == BLOCK_SLOT_WIDE_WORDS) {
		ret->object = slot[1];
		ret->size = slot[2];
		ret->birth_event = block_slot_low_bits(slot[3], 48);
		return;
	}
	ret->object = block_slot_low_bits(slot[1], BLOCK_SLOT_NARROW_BITS);
	ret->size = slot[1] >> BLOCK_SLOT_NARROW_BITS |
		    block_slot_low_bits(slot[2] >> BLOCK_SLOT_NARROW_BITS,
					BLOCK_SLOT_HIGH_BITS)
			    << BLOCK_SLOT_LOW_BITS;
	ret->birth_event = block_slot_low_bits(slot[2], BLOCK_SLOT_NARROW_BITS);
}

/*
 * Return the slot of a page in the table of pages, or the free slot where the
 * page belongs.  The set must have pages.
 */
static inline struct block_page *
block_slot_seek_page(const struct block_set *blocks, uint64_t number)
{
	const size_t mask = ((size_t)1 << blocks->page_shift) - 1;
	size_t slot = block_set_page_home(blocks, number);

	while (blocks->pages[slot].number != number &&
	       blocks->pages[slot].slots != NULL)
		slot = (slot + 1) & mask;
	return &blocks->pages[slot];
}

/* Return the page of an address, or NULL. */
static inline struct block_page *
block_slot_find_page(const struct block_set *blocks, uint64_t address)
{
	struct block_page *page;

	if (blocks->count == 0)
		return NULL;
	page = block_slot_seek_page(blocks, address >> BLOCK_PAGE_SHIFT);
	return page->slots != NULL ? page : NULL;
}

#endif /* HATF_BLOCK_SLOT_H */
