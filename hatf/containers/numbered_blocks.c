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

/* Maximum number of blocks of a page in the shape 'few'. */
#define FEW_MAX 12
/* A page in the shape 'all' with this many blocks becomes 'few' again. */
#define FEW_AGAIN 6

/* Slab classes of the arrays: 64 and 1024 bytes. */
#define FEW_CLASS 0
#define ALL_CLASS 15

/* The size of a huge page, and the minimum size of rows that use such pages. */
#define HUGE_NBYTES ((size_t)2 << 20)

/* How many blocks ahead a free row is prefetched. */
#define FREE_AHEAD 8

/* The array of the shape 'few'. */
struct few {
	uint32_t numbers[FEW_MAX];
	uint8_t places[16]; /* the first FEW_MAX are used */
};

_Static_assert(sizeof(struct few) == SLAB_LINE_NBYTES,
	       "the shape 'few' takes a cache line");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "find_byte() counts bytes from the low end of a word");

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
	slab_fini(&blocks->slab);
	*blocks = (struct numbered_blocks){ .seed = blocks->seed };
}

static inline uint64_t
page_of(uint64_t address)
{
	return numbered_key(address) >> NUMBERED_PLACE_BITS;
}

static inline unsigned
place_of(uint64_t address)
{
	return (unsigned)(numbered_key(address) % NUMBERED_PLACES);
}

/* ------------------------------------------------------------------- rows */

/*
 * Return an array of 'nbytes' bytes, a power of two, with a copy of the old
 * one, which is freed; NULL if there is no memory.  Successive events use rows
 * far apart, so large pages avoid most TLB misses.
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
		madvise(array, nbytes, MADV_HUGEPAGE); /* a hint */
	if (old_nbytes != 0)
		memcpy(array, old, old_nbytes);
	free(old);
	return array;
}

/* Make room for one more row; false if there is no memory. */
static bool
grow_rows(struct numbered_blocks *blocks)
{
	const size_t old = blocks->row_cap;
	const size_t cap = old == 0 ? ROWS_MIN : 2 * old;
	struct numbered_row *rows;
	uint32_t *free_rows;

	if (cap > UINT32_MAX)
		return false;
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

/* Return a free row, which put_row() will then take; 0: no memory. */
static inline uint32_t
find_free_row(struct numbered_blocks *blocks)
{
	const uint32_t count = blocks->free_count;

	if (count != 0) {
		/* Later blocks will take the rows before this one. */
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
put_row(struct numbered_blocks *blocks, uint32_t number, struct block *block)
{
	if (blocks->free_count != 0)
		blocks->free_count--;
	else
		blocks->row_count = number;
	block->number = number;
	numbered_blocks_set(blocks, block);
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
	block_ret->birth_event = row->birth_event;
	block_ret->number = number;
}

/* ------------------------------------------------------ blocks of one page */

/* Return the index of the first byte that equals 'byte'; 8 if there is none. */
static inline unsigned
find_byte(const uint8_t *bytes, uint8_t byte)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	word ^= ones * byte;
	/* Set the top bit of each byte that is 0, up to the first such byte. */
	word = (word - ones) & ~word & ones << 7;
	return word != 0 ? (unsigned)__builtin_ctzll(word) / 8 : 8;
}

/* Return the index of a place; at least 'count' if the page lacks it. */
static inline unsigned
find_few(const struct few *few, unsigned place)
{
	const unsigned i = find_byte(few->places, (uint8_t)place);

	return i < 8 ? i : 8 + find_byte(few->places + 8, (uint8_t)place);
}

/* Return the number of the block at a place; 0 if there is none. */
static inline uint32_t
get_number(const struct numbered_page *page, unsigned place)
{
	if (page->shape == NUMBERED_ALL)
		return ((const uint32_t *)page->array)[place];
	if (page->shape == NUMBERED_ONE)
		return page->place == place ? page->only : 0;

	const struct few *const few = page->array;
	const unsigned i = find_few(few, place);

	return i < page->count ? few->numbers[i] : 0;
}

/* Change the shape from 'one' to 'few'; false if there is no memory. */
static bool
become_few(struct slab *slab, struct numbered_page *page)
{
	struct few *const few = slab_get(slab, FEW_CLASS);

	if (few == NULL)
		return false;
	memset(few->places, 0, sizeof(few->places));
	few->places[0] = page->place;
	few->numbers[0] = page->only;
	page->array = few;
	page->shape = NUMBERED_FEW;
	return true;
}

/* Change the shape from 'few' to 'all'; false if there is no memory. */
static bool
become_all(struct slab *slab, struct numbered_page *page)
{
	struct few *const few = page->array;
	uint32_t *const all = slab_get(slab, ALL_CLASS);

	if (all == NULL)
		return false;
	memset(all, 0, NUMBERED_PLACES * sizeof(*all));
	for (unsigned i = 0; i < page->count; i++)
		all[few->places[i]] = few->numbers[i];
	slab_put(slab, few, FEW_CLASS);
	page->array = all;
	page->shape = NUMBERED_ALL;
	return true;
}

/*
 * Change the shape from 'all' to 'few'.  If there is no memory, keep the shape.
 */
static void
become_few_again(struct slab *slab, struct numbered_page *page)
{
	uint32_t *const all = page->array;
	struct few *const few = slab_get(slab, FEW_CLASS);
	unsigned n = 0;

	if (few == NULL)
		return;
	memset(few->places, 0, sizeof(few->places));
	for (unsigned place = 0; place < NUMBERED_PLACES; place++) {
		if (all[place] == 0)
			continue;
		few->places[n] = (uint8_t)place;
		few->numbers[n++] = all[place];
	}
	slab_put(slab, all, ALL_CLASS);
	page->array = few;
	page->shape = NUMBERED_FEW;
}

/* Make room in a page for one more block; false if there is no memory. */
static inline bool
fit_page(struct slab *slab, struct numbered_page *page)
{
	if (page->shape == NUMBERED_ALL || page->count == 0)
		return true;
	if (page->shape == NUMBERED_ONE)
		return become_few(slab, page);
	return page->count < FEW_MAX || become_all(slab, page);
}

/* Add a number at a place, after fit_page(). */
static inline void
set_number(struct numbered_page *page, unsigned place, uint32_t number)
{
	if (page->shape == NUMBERED_ALL) {
		((uint32_t *)page->array)[place] = number;
	} else if (page->shape == NUMBERED_ONE) {
		page->place = (uint8_t)place;
		page->only = number;
	} else {
		struct few *const few = page->array;

		few->places[page->count] = (uint8_t)place;
		few->numbers[page->count] = number;
	}
	page->count++;
}

/* Remove the number at a place of a page, which has it. */
static inline void
clear_number(struct slab *slab, struct numbered_page *page, unsigned place)
{
	page->count--;
	if (page->shape == NUMBERED_ALL) {
		((uint32_t *)page->array)[place] = 0;
		if (page->count == FEW_AGAIN)
			become_few_again(slab, page);
	} else if (page->shape == NUMBERED_FEW) {
		struct few *const few = page->array;
		const unsigned i = find_few(few, place);

		few->places[i] = few->places[page->count];
		few->numbers[i] = few->numbers[page->count];
	}
}

/* ------------------------------------------------------------------ pages */

static inline size_t
home_of(const struct numbered_blocks *blocks, uint64_t number)
{
	return (size_t)(u64_map_seed_hash(&blocks->seed, number) >>
			(64 - blocks->page_shift));
}

/*
 * Return the slot of a page in the table of pages, or the free slot where the
 * page belongs.  The set must have a table.
 */
static inline size_t
seek(const struct numbered_blocks *blocks, uint64_t number, size_t hint)
{
	const size_t mask = ((size_t)1 << blocks->page_shift) - 1;
	const struct numbered_page *const pages = blocks->pages;
	size_t slot = hint & mask;

	if (pages[slot].number == number && pages[slot].count != 0)
		return slot;
	slot = home_of(blocks, number);
	while (pages[slot].number != number && pages[slot].count != 0)
		slot = (slot + 1) & mask;
	return slot;
}

/* Return the page of an address; NULL if there is none. */
static inline struct numbered_page *
find_page(struct numbered_blocks *blocks, uint64_t address)
{
	if (blocks->count == 0)
		return NULL;
	blocks->hint = seek(blocks, page_of(address), blocks->hint);
	return blocks->pages[blocks->hint].count != 0
		       ? &blocks->pages[blocks->hint]
		       : NULL;
}

/* Move the pages to a table of 2^shift slots; false if there is no memory. */
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
			other.pages[seek(&other, page->number, 0)] = *page;
	}
	free(blocks->pages);
	blocks->pages = other.pages;
	blocks->page_shift = shift;
	return true;
}

/* Ensure that half of the slots stays free after one more page. */
static bool
make_room(struct numbered_blocks *blocks)
{
	if (blocks->pages == NULL)
		return resize_pages(blocks, PAGES_MIN_SHIFT);
	if (blocks->page_count < (size_t)1 << (blocks->page_shift - 1))
		return true;
	return resize_pages(blocks, blocks->page_shift + 1);
}

/*
 * Return a free slot of the table for the page of an address; NULL if there is
 * no memory.  The slot stays free until the page has a block.
 */
static struct numbered_page *
add_page(struct numbered_blocks *blocks, uint64_t address)
{
	struct numbered_page *page;

	if (!make_room(blocks))
		return NULL;
	blocks->hint = seek(blocks, page_of(address), blocks->hint);
	page = &blocks->pages[blocks->hint];
	*page = (struct numbered_page){ .number = page_of(address) };
	return page;
}

/*
 * Must a page that is in 'slot' and has this home stay there, although slot
 * 'hole' before it is free?
 */
static inline bool
stays(size_t home, size_t hole, size_t slot)
{
	/* Is 'home' in (hole, slot], wrapping around at the end? */
	return hole < slot ? hole < home && home <= slot
			   : hole < home || home <= slot;
}

/* Remove a page that has lost its last block. */
static void
remove_page(struct numbered_blocks *blocks, struct numbered_page *page)
{
	const size_t mask = ((size_t)1 << blocks->page_shift) - 1;
	size_t hole = (size_t)(page - blocks->pages);
	size_t slot = hole;

	if (page->shape != NUMBERED_ONE)
		slab_put(&blocks->slab, page->array,
			 page->shape == NUMBERED_FEW ? FEW_CLASS : ALL_CLASS);
	for (;;) {
		slot = (slot + 1) & mask;
		if (blocks->pages[slot].count == 0)
			break;
		if (!stays(home_of(blocks, blocks->pages[slot].number), hole,
			   slot)) {
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
	const uint32_t number =
		page != NULL ? get_number(page, place_of(address)) : 0;

	if (number == 0)
		return false;
	get_row(blocks, number, block_ret);
	return true;
}

bool
numbered_blocks_put(struct numbered_blocks *blocks, uint64_t address,
		    struct block *block, bool *added_ret, struct block *old_ret)
{
	const unsigned place = place_of(address);
	struct numbered_page *page = find_page(blocks, address);
	uint32_t number = page != NULL ? get_number(page, place) : 0;

	*added_ret = number == 0;
	if (number != 0) {
		get_row(blocks, number, old_ret);
		block->number = number;
		numbered_blocks_set(blocks, block);
		return true;
	}
	number = find_free_row(blocks);
	if (number == 0)
		return false;
	if (page == NULL)
		page = add_page(blocks, address);
	if (page == NULL || !fit_page(&blocks->slab, page))
		return false;
	blocks->page_count += page->count == 0;
	blocks->count++;
	put_row(blocks, number, block);
	set_number(page, place, number);
	return true;
}

bool
numbered_blocks_take(struct numbered_blocks *blocks, uint64_t address,
		     struct block *old_ret)
{
	const unsigned place = place_of(address);
	struct numbered_page *const page = find_page(blocks, address);
	const uint32_t number = page != NULL ? get_number(page, place) : 0;

	if (number == 0)
		return false;
	get_row(blocks, number, old_ret);
	clear_number(&blocks->slab, page, place);
	free_row(blocks, number);
	blocks->count--;
	if (page->count == 0)
		remove_page(blocks, page);
	return true;
}

/* Find the next number of a page, from walk->place on; 0 if there is none. */
static uint32_t
next_number(const struct numbered_page *page, struct numbered_walk *walk,
	    unsigned *place_ret)
{
	while (page->shape == NUMBERED_ALL && walk->place < NUMBERED_PLACES) {
		const uint32_t number =
			((const uint32_t *)page->array)[walk->place];

		*place_ret = walk->place++;
		if (number != 0)
			return number;
	}
	if (page->shape == NUMBERED_ALL || walk->place >= page->count)
		return 0;
	if (page->shape == NUMBERED_ONE) {
		walk->place++;
		*place_ret = page->place;
		return page->only;
	}

	const struct few *const few = page->array;

	*place_ret = few->places[walk->place];
	return few->numbers[walk->place++];
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
		unsigned place = 0;
		const uint32_t number =
			page->count != 0 ? next_number(page, walk, &place) : 0;

		if (number != 0) {
			*address_ret = numbered_address(
				page->number << NUMBERED_PLACE_BITS | place);
			get_row(blocks, number, block_ret);
			return true;
		}
		walk->place = 0;
	}
	return false;
}

size_t
numbered_blocks_prefetch_page(const struct numbered_blocks *blocks,
			      uint64_t address)
{
	const struct numbered_page *page;
	size_t slot;

	if (blocks->count == 0)
		return 0;
	slot = seek(blocks, page_of(address), blocks->hint);
	page = &blocks->pages[slot];
	if (page->count == 0)
		return slot;
	if (page->shape == NUMBERED_ALL)
		__builtin_prefetch(
			(const uint32_t *)page->array + place_of(address), 1);
	else if (page->shape == NUMBERED_FEW)
		__builtin_prefetch(page->array, 1);
	return slot;
}

void
numbered_blocks_prefetch_row(const struct numbered_blocks *blocks,
			     uint64_t address, size_t hint)
{
	const struct numbered_page *page;

	if (blocks->count == 0)
		return;
	page = &blocks->pages[hint & (((size_t)1 << blocks->page_shift) - 1)];
	if (page->number == page_of(address) && page->count != 0)
		__builtin_prefetch(
			&blocks->rows[get_number(page, place_of(address))], 1);
}
