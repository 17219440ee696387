/* SPDX-License-Identifier: MIT */
/*
 * block_set.c - see block_set.h
 *
 * The table of pages and the table of the blocks in a page use open addressing
 * and linear probing.  A run is a sequence of used slots.  A removal moves
 * later entries of the run back, as in u64_map.c.
 */
#include "hatf/containers/block_slot.h"

#include <stdlib.h>
#include <string.h>

#define PAGES_MIN_SHIFT 4

void
block_set_init(struct block_set *blocks)
{
	*blocks = (struct block_set){ 0 };
	u64_map_seed_init(&blocks->seed);
}

void
block_set_fini(struct block_set *blocks)
{
	free(blocks->pages);
	slab_fini(&blocks->slab);
	page_order_fini(&blocks->order);
	blocks->pages = NULL;
	blocks->page_shift = 0;
	blocks->page_count = blocks->count = 0;
}

/* -------------------------------------------------------------- one slot */

/*
 * Write a block to a slot.  'place' is the offset of the block in its page,
 * plus 1.
 */
static inline void
set_slot(const struct block_page *page, uint64_t *slot, unsigned place,
	 const struct block *block)
{
	slot[0] = block->birth_time;
	if (page->words == BLOCK_SLOT_WIDE_WORDS) {
		slot[1] = block->object;
		slot[2] = block->size;
		slot[3] = (uint64_t)place << BLOCK_SLOT_PLACE_SHIFT |
			  block->birth_event;
		return;
	}
	slot[1] = block->size << BLOCK_SLOT_NARROW_BITS | block->object;
	slot[2] = (uint64_t)place << BLOCK_SLOT_PLACE_SHIFT |
		  block->size >> BLOCK_SLOT_LOW_BITS << BLOCK_SLOT_NARROW_BITS |
		  block->birth_event;
}

static inline bool
fits_narrow(const struct block *block)
{
	return block->size >> (BLOCK_SLOT_LOW_BITS + BLOCK_SLOT_HIGH_BITS) ==
		       0 &&
	       (block->object | block->birth_event) >> BLOCK_SLOT_NARROW_BITS ==
		       0;
}

/* -------------------------------------------------------------- one page */

/*
 * The compiler inlines a FOR_BOTH_LENGTHS function twice: for slots of three
 * words and for slots of four.  The parameter 'words' is then a constant.
 */
#define FOR_BOTH_LENGTHS static inline __attribute__((always_inline))

FOR_BOTH_LENGTHS unsigned
seek_words(const struct block_page *page, unsigned place, unsigned words)
{
	const unsigned home = block_set_home(place, page->room);
	const uint64_t *const end = page->slots + (size_t)page->room * words;
	const uint64_t *slot = page->slots + (size_t)home * words;

	for (unsigned i = home;; i++) {
		if (slot == end) {
			slot = page->slots;
			i = 0;
		}

		const uint64_t found =
			slot[words - 1] >> BLOCK_SLOT_PLACE_SHIFT;

		if (found == 0 || found == place + 1)
			return i;
		slot += words;
	}
}

/*
 * Return the index of the slot of the block at 'place', an offset in the page.
 * If there is no such block, return the index of the free slot where the block
 * belongs.
 */
static inline unsigned
seek(const struct block_page *page, unsigned place)
{
	return page->words == BLOCK_SLOT_NARROW_WORDS
		       ? seek_words(page, place, BLOCK_SLOT_NARROW_WORDS)
		       : seek_words(page, place, BLOCK_SLOT_WIDE_WORDS);
}

FOR_BOTH_LENGTHS void
close_hole_words(struct block_page *page, unsigned hole, unsigned words)
{
	uint64_t *const slots = page->slots;
	const unsigned room = page->room;
	unsigned i = hole;

	for (;;) {
		i = i + 1 == room ? 0 : i + 1;

		const uint64_t *const slot = slots + (size_t)i * words;
		const unsigned place =
			(unsigned)(slot[words - 1] >> BLOCK_SLOT_PLACE_SHIFT);

		if (place == 0)
			break;
		if (!u64_map_stays(block_set_home(place - 1, room), hole, i)) {
			memcpy(slots + (size_t)hole * words, slot,
			       words * sizeof(*slot));
			hole = i;
		}
	}
	slots[(size_t)hole * words + words - 1] = 0;
}

/*
 * Remove the block in slot 'hole': move a later block of the same run of used
 * slots into 'hole', repeat this with the slot that the block leaves, and free
 * the last such slot.
 */
static void
close_hole(struct block_page *page, unsigned hole)
{
	if (page->words == BLOCK_SLOT_NARROW_WORDS)
		close_hole_words(page, hole, BLOCK_SLOT_NARROW_WORDS);
	else
		close_hole_words(page, hole, BLOCK_SLOT_WIDE_WORDS);
}

/*
 * Return how many blocks a page of 'room' slots may hold.  Leave a sixteenth of
 * the slots free.  Once the page has lost a block ('churns'), leave half of
 * them free: a removal may move all blocks between the removed block and the
 * next free slot, so this distance must be short.
 */
static inline unsigned
count_max(unsigned room, bool churns)
{
	return room - (room * (churns ? 8 : 1) + 15) / 16;
}

/* Return the number of slots in an array of this slab class. */
static inline unsigned
room_of(unsigned size_class, unsigned words)
{
	return (unsigned)(slab_nbytes(size_class) / (words * sizeof(uint64_t)));
}

/* Allocate the slots of an empty page.  Return false if there is no memory. */
static bool
get_slots(struct slab *slab, struct block_page *page, unsigned size_class,
	  unsigned words)
{
	const size_t nbytes = slab_nbytes(size_class);

	page->slots = slab_get(slab, size_class);
	if (page->slots == NULL)
		return false;
	memset(page->slots, 0, nbytes);
	page->size_class = (uint8_t)size_class;
	page->words = (uint8_t)words;
	page->room = (uint16_t)room_of(size_class, words);
	return true;
}

/*
 * Move a page to another array of slots.  Return false if there is no memory.
 */
static bool
resize_page(struct slab *slab, struct block_page *page, unsigned size_class,
	    unsigned words)
{
	struct block_page grown = *page;
	struct block block;

	if (!get_slots(slab, &grown, size_class, words))
		return false;
	for (unsigned i = 0; i < page->room; i++) {
		const uint64_t *const from = block_slot_at(page, i);
		const unsigned place = block_slot_get_place(page, from);

		if (place == 0)
			continue;
		block_slot_get(page, from, &block);
		set_slot(&grown, block_slot_at(&grown, seek(&grown, place - 1)),
			 place, &block);
	}
	slab_put(slab, page->slots, page->size_class);
	*page = grown;
	return true;
}

/*
 * Return the slab class for a page that must grow.  A page of less than 4 cache
 * lines, or a page whose size was guessed from a neighbouring page, grows by
 * one class.  Other pages grow by two classes.  If blocks have been removed
 * from the page, choose at least 2.5 slots for each block, so that the page
 * seldom grows.
 */
static unsigned
grown_class(const struct block_page *page)
{
	unsigned size_class = page->size_class;

	size_class += size_class < 3 || page->is_guessed ? 1 : 2;
	while (page->churns &&
	       2 * room_of(size_class, page->words) < 5u * page->count)
		size_class++;
	return size_class;
}

/*
 * Make room in a page to store 'block'.  If 'adds' is set, 'block' is an
 * additional block, so the page may need more slots.  Otherwise it replaces a
 * block of the page, and the slots may need to be longer.  Return false if
 * there is no memory.
 */
static inline bool
fit_page(struct slab *slab, struct block_page *page, const struct block *block,
	 bool adds)
{
	const unsigned words =
		fits_narrow(block) ? page->words : BLOCK_SLOT_WIDE_WORDS;
	unsigned size_class = page->size_class;

	if (adds && page->room <= BLOCK_PAGE_NBYTES &&
	    page->count >= count_max(page->room, page->churns))
		size_class = grown_class(page);
	if (words == page->words && size_class == page->size_class)
		return true;

	const unsigned room = room_of(size_class, page->words);

	/* If the slots get longer, the page must keep at least 'room' slots. */
	while (room_of(size_class, words) < room)
		size_class++;
	return resize_page(slab, page, size_class, words);
}

/*
 * Move a page to a shorter array, with room for about 1.5 times its blocks.  If
 * there is no memory, keep the array.
 */
static void
shrink_page(struct slab *slab, struct block_page *page)
{
	const size_t needed_nbytes = (page->count + page->count / 2u + 2) *
				     page->words * sizeof(uint64_t);
	unsigned size_class = page->size_class;

	while (size_class > 0 && slab_nbytes(size_class - 1) >= needed_nbytes)
		size_class--;
	if (size_class != page->size_class)
		resize_page(slab, page, size_class, page->words);
}

/* ----------------------------------------------------------------- pages */

/*
 * Move the pages to a table of 2^shift slots.  Return false if there is no
 * memory.
 */
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
		if (blocks->pages[i].slots != NULL)
			*block_slot_seek_page(&other, blocks->pages[i].number) =
				blocks->pages[i];
	free(blocks->pages);
	blocks->pages = other.pages;
	blocks->page_shift = shift;
	return true;
}

/*
 * Ensure that, after one more page is added, half of the slots are still free.
 * Return false if there is no memory.
 */
static bool
make_room(struct block_set *blocks)
{
	if (blocks->pages == NULL)
		return resize_pages(blocks, PAGES_MIN_SHIFT);
	if (blocks->page_count < (size_t)1 << (blocks->page_shift - 1))
		return true;
	return resize_pages(blocks, blocks->page_shift + 1);
}

/*
 * Return the smallest slab class with room for the blocks of page 'number'; 0
 * if there is no such page, or if its slots have four words.
 */
static unsigned
needed_class(const struct block_set *blocks, uint64_t number)
{
	const struct block_page *const page =
		block_slot_seek_page(blocks, number);
	unsigned size_class = 0;

	if (page->slots == NULL || page->words != BLOCK_SLOT_NARROW_WORDS)
		return 0;
	while (size_class < page->size_class &&
	       count_max(room_of(size_class, BLOCK_SLOT_NARROW_WORDS), false) <
		       page->count)
		size_class++;
	return size_class;
}

/*
 * Add a page without blocks; NULL if there is no memory.  Heaps grow at one
 * end, so the number of blocks in the page before or after predicts the number
 * in the new page.
 */
static struct block_page *
add_page(struct block_set *blocks, uint64_t number)
{
	struct block_page added = { .number = number };
	struct block_page *page;
	unsigned size_class;

	if (!make_room(blocks))
		return NULL;
	size_class = needed_class(blocks, number - 1);
	if (size_class == 0)
		size_class = needed_class(blocks, number + 1);
	if (!get_slots(&blocks->slab, &added, size_class,
		       BLOCK_SLOT_NARROW_WORDS))
		return NULL;
	if (blocks->keeps_order && !page_order_add(&blocks->order, number)) {
		slab_put(&blocks->slab, added.slots, added.size_class);
		return NULL;
	}
	added.is_guessed = size_class != 0;
	page = block_slot_seek_page(blocks, number);
	*page = added;
	blocks->page_count++;
	return page;
}

/* Remove a page that has no blocks. */
static void
remove_page(struct block_set *blocks, struct block_page *page)
{
	const size_t mask = ((size_t)1 << blocks->page_shift) - 1;
	size_t hole = (size_t)(page - blocks->pages);
	size_t slot = hole;

	slab_put(&blocks->slab, page->slots, page->size_class);
	if (blocks->keeps_order)
		page_order_remove(&blocks->order, page->number);
	for (;;) {
		slot = (slot + 1) & mask;
		if (blocks->pages[slot].slots == NULL)
			break;
		if (!u64_map_stays(block_set_page_home(
					   blocks, blocks->pages[slot].number),
				   hole, slot)) {
			blocks->pages[hole] = blocks->pages[slot];
			hole = slot;
		}
	}
	blocks->pages[hole] = (struct block_page){ 0 };
	blocks->page_count--;
	/* If there is no memory for a smaller table, keep the large one. */
	if (blocks->page_shift > PAGES_MIN_SHIFT &&
	    blocks->page_count < (size_t)1 << (blocks->page_shift - 3))
		resize_pages(blocks, blocks->page_shift - 1);
}

/* ------------------------------------------------------------- operations */

bool
block_set_find(const struct block_set *blocks, uint64_t address,
	       struct block *block_ret)
{
	const struct block_page *const page =
		block_slot_find_page(blocks, address);
	const uint64_t *slot;

	if (page == NULL)
		return false;
	slot = block_slot_at(page, seek(page, block_slot_place_of(address)));
	if (block_slot_get_place(page, slot) == 0)
		return false;
	block_slot_get(page, slot, block_ret);
	return true;
}

bool
block_set_put(struct block_set *blocks, uint64_t address,
	      const struct block *block, bool *added_ret, struct block *old_ret)
{
	const unsigned place = block_slot_place_of(address);
	struct block_page *page = block_slot_find_page(blocks, address);
	uint64_t *slot;

	if (page == NULL)
		page = add_page(blocks, address >> BLOCK_PAGE_SHIFT);
	if (page == NULL)
		return false;
	slot = block_slot_at(page, seek(page, place));
	*added_ret = block_slot_get_place(page, slot) == 0;
	if (!*added_ret && old_ret != NULL)
		block_slot_get(page, slot, old_ret);

	const uint64_t *const slots = page->slots;

	if (!fit_page(&blocks->slab, page, block, *added_ret)) {
		if (page->count == 0)
			remove_page(blocks, page);
		return false;
	}
	if (page->slots != slots)
		slot = block_slot_at(page, seek(page, place));
	set_slot(page, slot, place + 1, block);
	page->has_unaligned |= place % 16 != 0;
	page->count += *added_ret;
	blocks->count += *added_ret;
	return true;
}

bool
block_set_take(struct block_set *blocks, uint64_t address,
	       struct block *old_ret)
{
	struct block_page *const page = block_slot_find_page(blocks, address);
	unsigned i;

	if (page == NULL)
		return false;
	i = seek(page, block_slot_place_of(address));
	if (block_slot_get_place(page, block_slot_at(page, i)) == 0)
		return false;
	block_slot_get(page, block_slot_at(page, i), old_ret);
	blocks->count--;
	page->count--;
	if (page->count == 0) {
		remove_page(blocks, page);
		return true;
	}
	close_hole(page, i);
	page->churns = true;
	/*
	 * Without memory for a smaller array, shrink_page() keeps the large
	 * one.
	 */
	if (page->size_class != 0 && page->count < page->room / 8)
		shrink_page(&blocks->slab, page);
	return true;
}

bool
block_set_next(const struct block_set *blocks, struct block_walk *walk,
	       uint64_t *address_ret, struct block *block_ret)
{
	if (blocks->pages == NULL)
		return false;
	for (; walk->page >> blocks->page_shift == 0; walk->page++) {
		const struct block_page *const page =
			&blocks->pages[walk->page];

		while (page->slots != NULL && walk->slot < page->room) {
			const uint64_t *const slot =
				block_slot_at(page, (unsigned)walk->slot++);
			const unsigned place = block_slot_get_place(page, slot);

			if (place == 0)
				continue;
			*address_ret =
				page->number << BLOCK_PAGE_SHIFT | (place - 1u);
			block_slot_get(page, slot, block_ret);
			return true;
		}
		walk->slot = 0;
	}
	return false;
}

void
block_set_prefetch(const struct block_set *blocks, uint64_t address)
{
	const struct block_page *const page =
		block_slot_find_page(blocks, address);

	if (page != NULL)
		__builtin_prefetch(block_slot_at(
			page, block_set_home(block_slot_place_of(address),
					     page->room)));
}
