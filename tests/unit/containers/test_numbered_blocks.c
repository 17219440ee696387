/* SPDX-License-Identifier: MIT */
/*
 * test_numbered_blocks.c - the set of numbered blocks agrees with a model
 *
 * The set agrees with a simple model after any series of operations, whatever
 * the hints.  No two live blocks have the same number, and numbers stay as
 * small as the peak.  The set keeps its invariant and its bounds on memory.
 */
#include "hatf/containers/numbered_blocks.h"
#include "tests/unit/support/hand.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KEY_COUNT    4096

/* A cheap assertion: Check records each of its own, which is slow. */
static void
want(bool holds, const char *what)
{
	if (!holds)
		ck_abort_msg("%s", what);
}

static uint64_t
next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * 0x2545f4914f6cdd1d;
}

static size_t
page_home(const struct numbered_blocks *blocks, uint64_t number)
{
	return (size_t)(u64_map_seed_hash(&blocks->seed, number) >>
			(64 - blocks->page_shift));
}

/*
 * Check the table of pages.  Return the mean distance of pages from their
 * homes.
 */
static double
check_pages(const struct numbered_blocks *blocks)
{
	const size_t n =
		blocks->pages == NULL ? 0 : (size_t)1 << blocks->page_shift;
	size_t page_count = 0, count = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct numbered_page *const page = &blocks->pages[i];

		if (page->count == 0)
			continue;
		page_count++;
		count += page->count;
		for (size_t k = page_home(blocks, page->number); k != i;
		     k = (k + 1) % n, sum++)
			want(blocks->pages[k].count != 0, "a gap");
	}
	ck_assert_uint_eq(page_count, blocks->page_count);
	ck_assert_uint_eq(count, blocks->count);
	ck_assert_uint_le(page_count, n / 2);
	return (double)sum / (double)(page_count + 1);
}

static struct block
values_of(uint64_t object)
{
	return (struct block){
		.size = ~object,
		.object = object,
		.birth_time = UINT64_MAX - object,
		.birth_event = object ^ BLOCK_EVENT_MAX,
	};
}

static bool
are_equal(const struct block *a, const struct block *b)
{
	return a->size == b->size && a->object == b->object &&
	       a->birth_time == b->birth_time &&
	       a->birth_event == b->birth_event;
}

/* The model: which of KEY_COUNT addresses are live, and their numbers. */
static uint64_t model[KEY_COUNT];
static uint32_t numbers[KEY_COUNT];

/*
 * Some pages are full to the last byte, some have blocks of 16, 48 or 400
 * bytes, some have one block.
 */
static uint64_t
key(size_t i)
{
	if (i < KEY_COUNT / 4)
		return i * 3;
	if (i < KEY_COUNT / 2)
		return 0x80000 + i * 16;
	if (i < KEY_COUNT * 5 / 8)
		return 0x100000 + i * 48;
	return i < KEY_COUNT * 3 / 4 ? 0x200000 + i * 400 : i << 40;
}

/* Which key has a number; 0: none, else the key plus 1. */
static size_t owners[KEY_COUNT + 1];

static void
put(struct numbered_blocks *blocks, size_t i, uint64_t object)
{
	struct block block = values_of(object), old;
	bool added = false;

	want(numbered_blocks_put(blocks, key(i), &block, &added, &old),
	     "memory");
	want(added == (model[i] == 0), "a block that is new");
	want(block.number != 0 && block.number <= KEY_COUNT, "a number");
	if (!added) {
		const struct block before = values_of(model[i]);

		want(are_equal(&old, &before), "what was replaced");
		want(old.number == numbers[i] && block.number == numbers[i],
		     "the number of what was replaced");
	} else {
		want(owners[block.number] == 0, "a number of its own");
	}
	owners[block.number] = i + 1;
	numbers[i] = block.number;
	model[i] = object;
}

static void
drop(struct numbered_blocks *blocks, size_t i)
{
	const struct block before = values_of(model[i]);
	struct block old;

	want(numbered_blocks_take(blocks, key(i), &old) == (model[i] != 0),
	     "what lives");
	if (model[i] == 0)
		return;
	want(are_equal(&old, &before) && old.number == numbers[i],
	     "what was taken");
	owners[numbers[i]] = 0;
	model[i] = 0;
}

static void
check_key(struct numbered_blocks *blocks, size_t i)
{
	const struct block values = values_of(model[i]);
	struct block block;
	const bool lives = numbered_blocks_find(blocks, key(i), &block);

	want(lives == (model[i] != 0), "what lives");
	want(!lives ||
		     (are_equal(&block, &values) && block.number == numbers[i]),
	     "a block's values");
}

/* The walk visits each block once. */
static void
check_walk(const struct numbered_blocks *blocks)
{
	struct numbered_walk walk = { 0 };
	struct block block;
	uint64_t address;
	size_t count = 0;
	static bool seen[KEY_COUNT];

	memset(seen, 0, sizeof(seen));
	while (numbered_blocks_next(blocks, &walk, &address, &block)) {
		const size_t i = owners[block.number] - 1;

		want(i < KEY_COUNT && key(i) == address && !seen[i] &&
			     model[i] == block.object,
		     "a block to visit");
		seen[i] = true;
		count++;
	}
	ck_assert_uint_eq(count, blocks->count);
}

START_TEST(it_agrees_with_a_model)
{
	struct numbered_blocks blocks;
	uint64_t seed = 1;
	size_t count = 0, peak = 0;

	numbered_blocks_init(&blocks);
	for (uint64_t step = 1; step <= 400000; step++) {
		const uint64_t random = next_random(&seed);
		/* Sometimes only the keys of some pages, back and forth. */
		const size_t i = step / 5000 % 3 == 0
					 ? random % 64 * 61 % KEY_COUNT
					 : random % KEY_COUNT;
		/* Long phases of growing and of shrinking. */
		const bool grows =
			next_random(&seed) % 100 < (step / 25000 % 2 ? 10 : 90);

		check_key(&blocks, i);
		/* Step by step, and with values of earlier look-ups. */
		if (random % 4 != 0)
			numbered_blocks_prefetch_page(&blocks, step, key(i));
		numbered_blocks_prefetch_row(&blocks, step - random % 20);
		if (random % 3 != 0)
			numbered_blocks_use_hint(&blocks, step - random % 2);
		else
			blocks.hint = random >> 8;
		if (grows) {
			count += model[i] == 0;
			put(&blocks, i, step);
		} else {
			count -= model[i] != 0;
			drop(&blocks, i);
		}
		if (count > peak)
			peak = count;
		want(blocks.count == count, "the count");
		want(blocks.row_count == peak, "numbers up to the peak");
		if (step % 10000 == 0) {
			check_pages(&blocks);
			check_walk(&blocks);
		}
	}
	for (size_t i = 0; i < KEY_COUNT; i++)
		check_key(&blocks, i);
	numbered_blocks_fini(&blocks);
	ck_assert_uint_eq(blocks.count, 0);
	ck_assert(!numbered_blocks_find(&blocks, key(1), &(struct block){ 0 }));
}
END_TEST

START_TEST(every_address_is_allowed)
{
	static const uint64_t keys[] = { 0,
					 1,
					 4095,
					 4096,
					 UINT64_MAX,
					 UINT64_MAX - 4095,
					 (uint64_t)1 << 63 };
	struct numbered_blocks blocks;
	struct block block, old;
	bool added;

	numbered_blocks_init(&blocks);
	numbered_blocks_prefetch_page(&blocks, 0, 0);
	numbered_blocks_prefetch_row(&blocks, 0);
	for (size_t i = 0; i < COUNT(keys); i++) {
		ck_assert_uint_eq(numbered_address(numbered_key(keys[i])),
				  keys[i]);
		block = values_of(i + 1);
		ck_assert(!numbered_blocks_find(&blocks, keys[i], &old));
		ck_assert(numbered_blocks_put(&blocks, keys[i], &block, &added,
					      &old));
		ck_assert(added);
	}
	for (size_t i = 0; i < COUNT(keys); i++) {
		ck_assert(numbered_blocks_take(&blocks, keys[i], &old));
		ck_assert_uint_eq(old.object, i + 1);
		ck_assert(!numbered_blocks_take(&blocks, keys[i], &old));
	}
	ck_assert_uint_eq(blocks.count, 0);
	ck_assert_uint_eq(blocks.page_count, 0);
	numbered_blocks_fini(&blocks);
}
END_TEST

START_TEST(the_number_that_was_freed_last_is_used_next)
{
	struct numbered_blocks blocks;
	struct block block = values_of(1), old;
	bool added;

	numbered_blocks_init(&blocks);
	for (uint64_t i = 1; i <= 100; i++) {
		numbered_blocks_put(&blocks, i * 32, &block, &added, &old);
		ck_assert_uint_eq(block.number, i);
	}
	numbered_blocks_take(&blocks, 7 * 32, &old);
	numbered_blocks_take(&blocks, 9 * 32, &old);
	numbered_blocks_put(&blocks, 4096 * 32, &block, &added, &old);
	ck_assert_uint_eq(block.number, 9);
	numbered_blocks_put(&blocks, 8 * 32, &block, &added, &old);
	ck_assert(!added);
	ck_assert_uint_eq(block.number, 8);
	numbered_blocks_put(&blocks, 7 * 32, &block, &added, &old);
	ck_assert_uint_eq(block.number, 7);
	numbered_blocks_put(&blocks, 9 * 32, &block, &added, &old);
	ck_assert_uint_eq(block.number, 101);
	numbered_blocks_fini(&blocks);
}
END_TEST

/* The memory of a set in bytes that has been written to. */
static size_t
memory(const struct numbered_blocks *blocks)
{
	return (blocks->pages == NULL
			? 0
			: sizeof(*blocks->pages) << blocks->page_shift) +
	       blocks->slab.nbytes +
	       blocks->row_count *
		       (sizeof(*blocks->rows) + sizeof(*blocks->next) +
			sizeof(*blocks->free_rows));
}

static void
fill(struct numbered_blocks *blocks, uint64_t stride, uint64_t count)
{
	struct block block = values_of(1), old;
	bool added;

	for (uint64_t i = 1; i <= count; i++)
		want(numbered_blocks_put(blocks, 0x5555555540 + i * stride,
					 &block, &added, &old) &&
			     added,
		     "a block that is new");
}

/* At this size chunks of arrays are 2 MiB. */
START_TEST(memory_has_bounds)
{
	static const struct {
		uint64_t stride;
		size_t bound; /* bytes a block */
	} cases[] = {
		{ 1, 48 },
		{ 3, 48 },
		{ 8, 48 },
		{ 16, 48 },
		{ 32, 48 },
		{ 48, 48 },
		{ 64, 48 },
		{ 128, 48 },
		{ 400, 48 },
		{ 512, 48 },
		{ 4096, 72 },
		{ (uint64_t)1 << 20, 170 },
		{ -(uint64_t)48, 48 },
	};

	for (size_t c = 0; c < COUNT(cases); c++) {
		struct numbered_blocks blocks;
		struct block old;

		numbered_blocks_init(&blocks);
		fill(&blocks, cases[c].stride, 1000000);
		ck_assert_uint_le(memory(&blocks),
				  cases[c].bound * 1000000 + (2 << 20));
		ck_assert_double_lt(check_pages(&blocks), 3.0);
		for (uint64_t i = 1000000; i > 0; i--)
			want(numbered_blocks_take(
				     &blocks,
				     0x5555555540 + i * cases[c].stride, &old),
			     "a block");
		ck_assert_uint_le(blocks.page_shift, 4);
		numbered_blocks_fini(&blocks);
	}
}
END_TEST

/* Return the sum of the lengths of the arrays of all pages. */
static size_t
count_entries(const struct numbered_blocks *blocks)
{
	size_t sum = 0;

	for (size_t i = 0; i < (size_t)1 << blocks->page_shift; i++)
		if (blocks->pages[i].count != 0)
			sum += NUMBERED_PLACES >> blocks->pages[i].shift;
	return sum;
}

/*
 * Pages fill one after another, and then keep one block each.  The arrays of
 * all pages together stay in proportion to the most blocks at a time.
 */
START_TEST(arrays_of_thin_pages_are_short)
{
	enum {
		PAGES = 3000,
		FULL = 86
	};
	struct numbered_blocks blocks;

	numbered_blocks_init(&blocks);
	for (uint64_t page = 0; page < PAGES; page++) {
		struct block block = { .size = 1, .object = 1 }, old;
		bool added;

		for (uint64_t i = 0; i < FULL; i++)
			ck_assert(numbered_blocks_put(
				&blocks, (page << 20) + 16 * 11 * i, &block,
				&added, &old));
		for (uint64_t i = 1; i < FULL; i++)
			ck_assert(numbered_blocks_take(
				&blocks, (page << 20) + 16 * 11 * i, &old));
	}
	ck_assert_uint_eq(blocks.count, PAGES);
	ck_assert_uint_eq(blocks.entry_count, count_entries(&blocks));
	ck_assert_uint_le(blocks.entry_count, (size_t)24 * blocks.row_count);
	numbered_blocks_fini(&blocks);
}
END_TEST

START_TEST(memory_does_not_follow_the_trace)
{
	struct numbered_blocks blocks;
	struct block block = values_of(1), old;
	bool added;

	numbered_blocks_init(&blocks);
	/* A window of a thousand blocks moves through the addresses. */
	for (uint64_t i = 0; i < 2000000; i++) {
		want(numbered_blocks_put(&blocks, i * 48, &block, &added, &old),
		     "memory");
		if (i >= 1000)
			want(numbered_blocks_take(&blocks, (i - 1000) * 48,
						  &old),
			     "a block");
	}
	ck_assert_uint_le(memory(&blocks), (size_t)128 << 10);
	numbered_blocks_fini(&blocks);
}
END_TEST

START_TEST(two_sets_hash_differently)
{
	struct numbered_blocks a, b;
	unsigned same = 0;

	numbered_blocks_init(&a);
	numbered_blocks_init(&b);
	a.page_shift = b.page_shift = 8;
	for (uint64_t i = 0; i < 1000; i++)
		same += page_home(&a, i) == page_home(&b, i);
	ck_assert_uint_lt(same, 100);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		it_agrees_with_a_model,
		every_address_is_allowed,
		the_number_that_was_freed_last_is_used_next,
		memory_has_bounds,
		arrays_of_thin_pages_are_short,
		memory_does_not_follow_the_trace,
		two_sets_hash_differently,
	};

	return hand_run("numbered blocks", tests, COUNT(tests));
}
