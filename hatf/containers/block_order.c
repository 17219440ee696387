/* SPDX-License-Identifier: MIT */
/*
 * block_order.c - the neighbours of an address in a set of blocks, see
 * block_set.h
 *
 * A neighbour is in the page of the address, or in the page before or after it
 * (page_order.h).  A block's place is its offset in its page; its home slot is
 * the slot where a search for the place begins.  In a page where all places are
 * multiples of 16 ("aligned"), home slots have the order of the places, so it
 * is enough to search the slots around the home slot of the address.  Unaligned
 * blocks are spread over their page, so a page that has had an unaligned block
 * is searched completely.
 */
#include "hatf/containers/block_slot.h"

bool
block_set_keep_order(struct block_set *blocks)
{
	const size_t slot_count =
		blocks->pages == NULL ? 0 : (size_t)1 << blocks->page_shift;

	for (size_t i = 0; i < slot_count && !blocks->keeps_order; i++)
		if (blocks->pages[i].slots != NULL &&
		    !page_order_add(&blocks->order, blocks->pages[i].number))
			return false;
	blocks->keeps_order = true;
	return true;
}

/*
 * In a page of aligned blocks, return the slot where a search begins (home
 * slot) for 'place', an offset in the page.  A later place never has an earlier
 * home slot.
 */
static inline unsigned
ordered_home(const struct block_page *page, unsigned place)
{
	return place * page->room >> BLOCK_PAGE_SHIFT;
}

/*
 * The nearest block found so far.  The member 'place' is the block's place
 * plus 1, as block_slot_get_place() returns it.
 */
struct found {
	const uint64_t *slot; /* NULL: no block found so far */
	unsigned place;
};

/*
 * If the place of the block in slot 'i' is after that of the found block and
 * before 'last', make this block the found block.  Return false if the slot is
 * free.  (In this function, the variable 'place' is the block's place plus 1,
 * so 'place <= last' means that the block's place is less than 'last'.)
 */
static inline bool
take_later(const struct block_page *page, unsigned i, unsigned last,
	   struct found *found)
{
	const uint64_t *const slot = block_slot_at(page, i);
	const unsigned place = block_slot_get_place(page, slot);

	if (place > found->place && place <= last)
		*found = (struct found){ slot, place };
	return place != 0;
}

/*
 * Find the last block before 'place', an offset in the page or the end of the
 * page.  In a page of aligned blocks, no block before 'place' has a home slot
 * after the home slot of 'place'.  So a block before 'place' is either in a
 * slot before this home slot, or in the run of used slots that starts at this
 * home slot.  The run may wrap around.
 */
static struct found
find_before(const struct block_page *page, unsigned place)
{
	const unsigned room = page->room;
	unsigned home = ordered_home(page, place);
	struct found found = { NULL, 0 };

	if (home == room)
		home--;
	for (unsigned i = home; take_later(page, i, place, &found);)
		i = i + 1 == room ? 0 : i + 1;
	for (unsigned i = page->has_unaligned ? room : home; i-- > 0;) {
		/*
		 * Stop if the home slot of the found block is after 'i'.  The
		 * blocks that are left, in slot 'i' and before, have home slots
		 * up to 'i', so they are before the found block.  Exception: a
		 * block that wrapped around has a later home slot.  But such a
		 * block is after 'place', or the loop above has seen it.
		 */
		if (!page->has_unaligned && found.slot != NULL &&
		    ordered_home(page, found.place - 1) > i)
			break;
		take_later(page, i, place, &found);
	}
	return found;
}

/*
 * Find the first block whose offset in the page is from 'first' to 'last'.
 * Search from the home slot of 'first' on: in a page of aligned blocks, all
 * blocks in a run of used slots are before the blocks in the next run.  Only
 * the last run can wrap around to slot 0.
 */
static struct found
find_first(const struct block_page *page, unsigned first, unsigned last)
{
	const unsigned room = page->room, home = ordered_home(page, first);
	unsigned last_home = ordered_home(page, last);
	struct found found = { NULL, last + 2 };

	for (unsigned n = 0, i = home; n < room; n++) {
		const uint64_t *const slot = block_slot_at(page, i);
		const unsigned place = block_slot_get_place(page, slot);

		if (place > first && place < found.place) {
			found = (struct found){ slot, place };
			last_home = ordered_home(page, place - 1);
		}
		/*
		 * Stop at a free slot that is 'last_home' or later, because the
		 * blocks after this slot have later home slots.  After wrapping
		 * around, stop at a free slot before 'home', because the blocks
		 * after this slot are before 'first'.
		 */
		if (place == 0 && !page->has_unaligned &&
		    (i >= last_home || i < home))
			break;
		i = i + 1 == room ? 0 : i + 1;
	}
	return found;
}

static bool
return_found(const struct block_page *page, const struct found *found,
	     uint64_t *address_ret, struct block *block_ret)
{
	if (found->slot == NULL)
		return false;
	*address_ret = page->number << BLOCK_PAGE_SHIFT | (found->place - 1);
	block_slot_get(page, found->slot, block_ret);
	return true;
}

bool
block_set_before(const struct block_set *blocks, uint64_t address,
		 uint64_t *address_ret, struct block *block_ret)
{
	const struct block_page *page = block_slot_find_page(blocks, address);
	struct found found = { NULL, 0 };
	uint64_t number = address >> BLOCK_PAGE_SHIFT;

	if (page != NULL)
		found = find_before(page, block_slot_place_of(address));
	if (found.slot == NULL) {
		if (!page_order_before(&blocks->order, number, &number))
			return false;
		page = block_slot_seek_page(blocks, number);
		found = find_before(page, BLOCK_PAGE_NBYTES);
	}
	return return_found(page, &found, address_ret, block_ret);
}

bool
block_set_after(const struct block_set *blocks, uint64_t address, uint64_t last,
		uint64_t *address_ret, struct block *block_ret)
{
	const uint64_t last_number = last >> BLOCK_PAGE_SHIFT;
	uint64_t number = address >> BLOCK_PAGE_SHIFT;
	unsigned first = block_slot_place_of(address) + 1;
	const struct block_page *page = block_slot_find_page(blocks, address);

	if (last < address)
		return false;
	for (;;) {
		if (page != NULL && first != BLOCK_PAGE_NBYTES) {
			const struct found found =
				find_first(page, first,
					   number == last_number
						   ? block_slot_place_of(last)
						   : BLOCK_PAGE_NBYTES - 1);

			if (found.slot != NULL)
				return return_found(page, &found, address_ret,
						    block_ret);
		}
		if (number >= last_number ||
		    !page_order_after(&blocks->order, number, &number) ||
		    number > last_number)
			return false;
		first = 0;
		page = block_slot_seek_page(blocks, number);
	}
}
