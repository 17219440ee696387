/* SPDX-License-Identifier: MIT */
/*
 * numbered_blocks.c - see numbered_blocks.h
 *
 * The table of pages uses open addressing and linear probing.  A removal moves
 * later entries of a run back, as in u64_map.c.
 */
#include "hatf/containers/numbered_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES_MIN_SHIFT 4
#define ROWS_MIN	16

/*
 * The largest 'shift' of a page, which is also that of a new page.  The array
 * of a page has one entry for 2^shift addresses.
 */
#define SHIFT_MAX 6

/*
 * The array of a page is not doubled if it has more than this many entries for
 * each block.
 */
#define ENTRIES_MAX 6u

/*
 * No array is shortened while all arrays together have at most this many
 * entries for each row.  There are as many rows as there were live blocks at
 * the peak.
 */
#define ENTRIES_MEAN 8u

/*
 * The size of a huge page.  grow_array() asks for huge pages for arrays of this
 * size or more.
 */
#define HUGE_NBYTES ((size_t)2 << 20)

/*
 * When find_free_row() returns a row, it also prefetches the row that it will
 * return this many new blocks later, if no row is freed until then.
 */
#define FREE_AHEAD 8

_Static_assert(BLOCK_EVENT_MAX >> NUMBERED_PLACE_SHIFT == 0 &&
		       NUMBERED_PLACE_SHIFT + NUMBERED_PLACE_BITS < 63,
	       "an event number, a place and a flag must fit a word");

void
numbered_blocks_init(struct numbered_blocks *blocks)
{
	*blocks = (struct numbered_blocks){ 0 };
	u64_map_seed_init(&blocks->seed);
}

void
numbered_blocks_fini(struct numbered_blocks *blocks)
{
	free(blocks->pages);
	free(blocks->rows);
	free(blocks->free_rows);
	free(blocks->next);
	slab_fini(&blocks->slab);
	*blocks = (struct numbered_blocks){ .seed = blocks->seed };
}

/* ------------------------------------------------------------------- rows */

/*
 * Copy the old array into a new one of 'nbytes' bytes, a power of two.  Free
 * the old array, and return the new one.  If there is no memory, keep the old
 * array, and return NULL.  A large array gets huge pages.  They avoid most TLB
 * misses, because successive events use rows that are far apart.
 */
static void *
grow_array(void *old, size_t old_nbytes, size_t nbytes)
{
	const bool is_large = nbytes >= HUGE_NBYTES;
	void *const array = aligned_alloc(
		is_large ? HUGE_NBYTES : SLAB_LINE_NBYTES, nbytes);

	if (array == NULL)
		return NULL;
	if (is_large)
		/* ignore a failure: huge pages only save time */
		madvise(array, nbytes, MADV_HUGEPAGE);
	if (old_nbytes != 0)
		memcpy(array, old, old_nbytes);
	free(old);
	return array;
}

/*
 * Make room for one more row.  Return false if there is no memory, or if all
 * numbers are in use.
 */
static bool
grow_rows(struct numbered_blocks *blocks)
{
	const size_t old = blocks->row_cap;
	const size_t cap = old == 0 ? ROWS_MIN : 2 * old;
	struct numbered_row *rows;
	uint32_t *free_rows, *next;

	if (cap > UINT32_MAX)
		return false;
	next = realloc(blocks->next, cap * sizeof(*next));
	if (next == NULL)
		return false;
	blocks->next = next;
	free_rows = realloc(blocks->free_rows, cap * sizeof(*free_rows));
	if (free_rows == NULL)
		return false;
	blocks->free_rows = free_rows;
	rows = grow_array(blocks->rows, old * sizeof(*rows),
			  cap * sizeof(*rows));
	if (rows == NULL)
		return false;
	blocks->rows = rows;
	blocks->row_cap = (uint32_t)cap;
	return true;
}

/*
 * Return a free row for put_row(); 0 if there is no memory, or if all numbers
 * are in use.
 */
static inline uint32_t
find_free_row(struct numbered_blocks *blocks)
{
	const uint32_t count = blocks->free_count;

	if (count != 0) {
		/*
		 * 'free_rows' is a stack.  Prefetch the row that is FREE_AHEAD
		 * entries below the top, because a block that is added later
		 * will take that row.
		 */
		if (count > FREE_AHEAD)
			__builtin_prefetch(
				&blocks->rows[blocks->free_rows[count - 1 -
								FREE_AHEAD]],
				1);
		return blocks->free_rows[count - 1];
	}
	if (blocks->row_count + 1 >= blocks->row_cap && !grow_rows(blocks))
		return 0;
	return blocks->row_count + 1;
}

/* Store a block in the row that find_free_row() returned. */
static inline void
put_row(struct numbered_blocks *blocks, unsigned place, uint32_t number,
	struct block *block)
{
	if (blocks->free_count != 0)
		blocks->free_count--;
	else
		blocks->row_count = number;
	block->number = number;
	blocks->rows[number] = (struct numbered_row){
		.size = block->size,
		.object = block->object,
		.birth_time = block->birth_time,
		.event_and_place = (uint64_t)place << NUMBERED_PLACE_SHIFT |
				   block->birth_event,
	};
}

static inline void
free_row(struct numbered_blocks *blocks, uint32_t number)
{
	blocks->free_rows[blocks->free_count++] = number;
}

static inline void
get_row(const struct numbered_blocks *blocks, uint32_t number,
	struct block *block_ret)
{
	const struct numbered_row *const row = &blocks->rows[number];

	block_ret->size = row->size;
	block_ret->object = row->object;
	block_ret->birth_time = row->birth_time;
	block_ret->birth_event = row->event_and_place & BLOCK_EVENT_MAX;
	block_ret->number = number;
}

/* ------------------------------------------------------ blocks of one page */

static inline unsigned
place_in_row(const struct numbered_blocks *blocks, uint32_t number)
{
	return (unsigned)(blocks->rows[number].event_and_place >>
			  NUMBERED_PLACE_SHIFT) %
	       NUMBERED_PLACES;
}

/* Return the number of the block after block 'number' in its chain, or 0. */
static inline uint32_t
next_of(const struct numbered_blocks *blocks, uint32_t number)
{
	return (blocks->rows[number].event_and_place & NUMBERED_HAS_NEXT) != 0
		       ? blocks->next[number]
		       : 0;
}

/* Let block 'next' follow block 'number' in its chain; 0: no block follows. */
static inline void
set_next(struct numbered_blocks *blocks, uint32_t number, uint32_t next)
{
	if (next == 0) {
		blocks->rows[number].event_and_place &= ~NUMBERED_HAS_NEXT;
		return;
	}
	blocks->rows[number].event_and_place |= NUMBERED_HAS_NEXT;
	blocks->next[number] = next;
}

/*
 * Return the number of the block at 'place', a position in the page; 0 if there
 * is none.  '*before_ret' is the number of the block before it in its chain; 0
 * if the block is the first.
 */
static inline uint32_t
get_number(const struct numbered_blocks *blocks,
	   const struct numbered_page *page, unsigned place,
	   uint32_t *before_ret)
{
	uint32_t number = page->numbers[place >> page->shift];

	*before_ret = 0;
	while (number != 0 && place_in_row(blocks, number) != place) {
		*before_ret = number;
		number = next_of(blocks, number);
	}
	return number;
}

/* Put a block at the beginning of its chain. */
static inline void
link_number(struct numbered_blocks *blocks, struct numbered_page *page,
	    unsigned place, uint32_t number)
{
	uint32_t *const first = &page->numbers[place >> page->shift];

	if (*first != 0)
		set_next(blocks, number, *first);
	*first = number;
}

static inline void
unlink_number(struct numbered_blocks *blocks, struct numbered_page *page,
	      unsigned place, uint32_t number, uint32_t before)
{
	const uint32_t next = next_of(blocks, number);

	if (before == 0)
		page->numbers[place >> page->shift] = next;
	else
		set_next(blocks, before, next);
}

static inline size_t
length_of(unsigned shift)
{
	return NUMBERED_PLACES >> shift;
}

/* Return the slab class of the array of a page with this 'shift'. */
static inline unsigned
class_of(unsigned shift)
{
	/* The arrays have 64, 32, 16, 8, 4, 2 and 1 cache lines. */
	static const uint8_t classes[] = { 31, 23, 15, 7, 3, 1, 0 };

	return classes[shift];
}

/* Give a page an empty array.  Return false if there is no memory. */
static bool
get_numbers(struct numbered_blocks *blocks, struct numbered_page *page,
	    unsigned shift)
{
	page->numbers = slab_get(&blocks->slab, class_of(shift));
	page->shift = (uint8_t)shift;
	if (page->numbers == NULL)
		return false;
	memset(page->numbers, 0, length_of(shift) * sizeof(*page->numbers));
	blocks->entry_count += length_of(shift);
	return true;
}

/* Free the array of a page. */
static void
put_numbers(struct numbered_blocks *blocks, const struct numbered_page *page)
{
	slab_put(&blocks->slab, page->numbers, class_of(page->shift));
	blocks->entry_count -= length_of(page->shift);
}

/*
 * Give a page an array with one entry for 2^shift addresses.  If there is no
 * memory, keep the old array.  The page works with the old array, too: a
 * shorter array only makes the chains longer, and a longer one only takes more
 * memory than needed.
 */
static void
change_shift(struct numbered_blocks *blocks, struct numbered_page *page,
	     unsigned shift)
{
	struct numbered_page changed = *page;

	if (!get_numbers(blocks, &changed, shift))
		return;
	for (size_t i = 0; i < length_of(page->shift); i++) {
		uint32_t number = page->numbers[i];

		while (number != 0) {
			const uint32_t next = next_of(blocks, number);

			set_next(blocks, number, 0);
			link_number(blocks, &changed,
				    place_in_row(blocks, number), number);
			number = next;
		}
	}
	put_numbers(blocks, page);
	*page = changed;
}

/* ------------------------------------------------------------------ pages */

/* Like numbered_seek_home(), but look at slot 'hint' first. */
static inline size_t
seek(const struct numbered_blocks *blocks, uint64_t number, size_t hint)
{
	const size_t slot = hint & (((size_t)1 << blocks->page_shift) - 1);
	const struct numbered_page *const page = &blocks->pages[slot];

	return page->number == number && page->count != 0
		       ? slot
		       : numbered_seek_home(blocks, number);
}

/* Return the page of an address; NULL if there is none. */
static inline struct numbered_page *
find_page(struct numbered_blocks *blocks, uint64_t address)
{
	if (blocks->count == 0)
		return NULL;
	blocks->hint = seek(blocks, numbered_page_of(address), blocks->hint);
	return blocks->pages[blocks->hint].count != 0
		       ? &blocks->pages[blocks->hint]
		       : NULL;
}

/*
 * Move the pages to a table of 2^shift slots.  Return false if there is no
 * memory.
 */
static bool
resize_pages(struct numbered_blocks *blocks, unsigned shift)
{
	struct numbered_blocks other = *blocks;
	const size_t slot_count =
		blocks->pages == NULL ? 0 : (size_t)1 << blocks->page_shift;

	other.pages = calloc((size_t)1 << shift, sizeof(*other.pages));
	if (other.pages == NULL)
		return false;
	other.page_shift = shift;
	for (size_t i = 0; i < slot_count; i++) {
		const struct numbered_page *const page = &blocks->pages[i];

		if (page->count != 0)
			other.pages[numbered_seek_home(&other, page->number)] =
				*page;
	}
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
make_room(struct numbered_blocks *blocks)
{
	if (blocks->pages == NULL)
		return resize_pages(blocks, PAGES_MIN_SHIFT);
	if (blocks->page_count < (size_t)1 << (blocks->page_shift - 1))
		return true;
	return resize_pages(blocks, blocks->page_shift + 1);
}

/* Add a page without blocks; NULL if there is no memory. */
static struct numbered_page *
add_page(struct numbered_blocks *blocks, uint64_t address)
{
	struct numbered_page added = { .number = numbered_page_of(address) };

	if (!make_room(blocks) || !get_numbers(blocks, &added, SHIFT_MAX))
		return NULL;
	blocks->hint = numbered_seek_home(blocks, added.number);
	blocks->pages[blocks->hint] = added;
	return &blocks->pages[blocks->hint];
}

/* Remove a page that has lost its last block. */
static void
remove_page(struct numbered_blocks *blocks, struct numbered_page *page)
{
	const size_t mask = ((size_t)1 << blocks->page_shift) - 1;
	size_t hole = (size_t)(page - blocks->pages);
	size_t slot = hole;

	put_numbers(blocks, page);
	for (;;) {
		slot = (slot + 1) & mask;
		if (blocks->pages[slot].count == 0)
			break;
		if (!u64_map_stays(numbered_home_of(blocks,
						    blocks->pages[slot].number),
				   hole, slot)) {
			blocks->pages[hole] = blocks->pages[slot];
			hole = slot;
		}
	}
	blocks->pages[hole] = (struct numbered_page){ 0 };
	blocks->page_count--;
	/* If there is no memory for a smaller table, keep the large one. */
	if (blocks->page_shift > PAGES_MIN_SHIFT &&
	    blocks->page_count < (size_t)1 << (blocks->page_shift - 3))
		resize_pages(blocks, blocks->page_shift - 1);
}

/* ------------------------------------------------------------- operations */

bool
numbered_blocks_find(struct numbered_blocks *blocks, uint64_t address,
		     struct block *block_ret)
{
	const struct numbered_page *const page = find_page(blocks, address);
	uint32_t number, before;

	if (page == NULL)
		return false;
	number = get_number(blocks, page, numbered_place_of(address), &before);
	if (number == 0)
		return false;
	get_row(blocks, number, block_ret);
	return true;
}

/*
 * Add a block at an address where the set has no block.  Return false if there
 * is no memory, or if all numbers are in use.
 */
static inline bool
add_block(struct numbered_blocks *blocks, struct numbered_page *page,
	  uint64_t address, struct block *block)
{
	const unsigned place = numbered_place_of(address);
	const uint32_t number = find_free_row(blocks);

	if (number == 0)
		return false;
	if (page == NULL)
		page = add_page(blocks, address);
	if (page == NULL)
		return false;
	if (page->numbers[place >> page->shift] != 0 &&
	    ENTRIES_MAX * page->count >= length_of(page->shift) &&
	    page->shift != 0)
		change_shift(blocks, page, page->shift - 1);
	put_row(blocks, place, number, block);
	link_number(blocks, page, place, number);
	blocks->page_count += page->count == 0;
	page->count++;
	blocks->count++;
	return true;
}

bool
numbered_blocks_put(struct numbered_blocks *blocks, uint64_t address,
		    struct block *block, bool *added_ret, struct block *old_ret)
{
	struct numbered_page *const page = find_page(blocks, address);
	uint32_t number = 0, before;

	if (page != NULL)
		number = get_number(blocks, page, numbered_place_of(address),
				    &before);
	*added_ret = number == 0;
	if (number == 0)
		return add_block(blocks, page, address, block);
	get_row(blocks, number, old_ret);
	block->number = number;
	numbered_blocks_set(blocks, block);
	return true;
}

/*
 * Call this after removing a block from 'page'.  If the page is empty, remove
 * the page.  Otherwise shorten the array of the page to about four entries for
 * each block, if
 *
 *   - the array has 16 entries or more for each block, and
 *   - the arrays of all pages together are too long (ENTRIES_MEAN): a page that
 *     has lost blocks often fills again, so a single long array is no reason.
 *
 * To save time, look at the array only when the number of blocks in the page is
 * a power of two.
 */
static inline void
shrink(struct numbered_blocks *blocks, struct numbered_page *page)
{
	unsigned shift = page->shift;

	if (page->count == 0) {
		remove_page(blocks, page);
		return;
	}
	if ((page->count & (page->count - 1u)) != 0 ||
	    16u * page->count > length_of(shift) ||
	    blocks->entry_count <= ENTRIES_MEAN * (size_t)blocks->row_count)
		return;
	while (shift < SHIFT_MAX && 4u * page->count < length_of(shift))
		shift++;
	if (shift != page->shift)
		change_shift(blocks, page, shift);
}

bool
numbered_blocks_take(struct numbered_blocks *blocks, uint64_t address,
		     struct block *old_ret)
{
	const unsigned place = numbered_place_of(address);
	struct numbered_page *const page = find_page(blocks, address);
	uint32_t number, before;

	if (page == NULL)
		return false;
	number = get_number(blocks, page, place, &before);
	if (number == 0)
		return false;
	get_row(blocks, number, old_ret);
	unlink_number(blocks, page, place, number, before);
	free_row(blocks, number);
	blocks->count--;
	page->count--;
	shrink(blocks, page);
	return true;
}

/*
 * Return the number of the walk's next block in this page; 0 if there is none.
 */
static uint32_t
next_number(const struct numbered_blocks *blocks,
	    const struct numbered_page *page, struct numbered_walk *walk)
{
	uint32_t number = walk->next;

	while (number == 0 && page->count != 0 &&
	       walk->entry < length_of(page->shift))
		number = page->numbers[walk->entry++];
	walk->next = number != 0 ? next_of(blocks, number) : 0;
	return number;
}

bool
numbered_blocks_next(const struct numbered_blocks *blocks,
		     struct numbered_walk *walk, uint64_t *address_ret,
		     struct block *block_ret)
{
	if (blocks->pages == NULL)
		return false;
	for (; walk->page >> blocks->page_shift == 0; walk->page++) {
		const struct numbered_page *const page =
			&blocks->pages[walk->page];
		const uint32_t number = next_number(blocks, page, walk);

		if (number != 0) {
			*address_ret = numbered_address(
				page->number << NUMBERED_PLACE_BITS |
				place_in_row(blocks, number));
			get_row(blocks, number, block_ret);
			return true;
		}
		walk->entry = 0;
	}
	return false;
}
