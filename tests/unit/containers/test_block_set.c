/* SPDX-License-Identifier: MIT */
/*
 * test_block_set.c - the set of live blocks agrees with a simple model
 *
 * The set of live blocks agrees with a simple model after any series of
 * operations, keeps its invariant and its bounds on memory, finds blocks
 * without a long search whatever pattern their addresses follow, and reuses the
 * memory of pages that it has freed.
 */
#include "hatf/containers/block_set.h"
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

/* The place in a slot plus 1; 0: free. */
static unsigned
place_in(const struct block_page *page, size_t i)
{
	return (unsigned)(page->slots[(i + 1) * page->words - 1] >> 51);
}

/*
 * Check the invariant of a page.  Return the sum of its blocks' distances from
 * their homes.
 */
static size_t
check_page(const struct block_page *page)
{
	const size_t n = page->room;
	size_t count = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned place = place_in(page, i);

		if (place == 0)
			continue;
		count++;
		for (size_t k = block_set_home(place - 1, page->room); k != i;
		     k = (k + 1) % n, sum++)
			want(place_in(page, k) != 0, "a gap");
	}
	want(count == page->count && count > 0, "the count of a page");
	want(count < n && (count <= n - n / 16 || n > BLOCK_PAGE_NBYTES),
	     "a full page");
	return sum;
}

/*
 * Check the set.  Return the mean distances of blocks and pages from their
 * homes.
 */
static double
check_set(const struct block_set *blocks, double *page_mean_ret)
{
	const size_t n =
		blocks->pages == NULL ? 0 : (size_t)1 << blocks->page_shift;
	size_t page_count = 0, count = 0, sum = 0, page_sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct block_page *const page = &blocks->pages[i];

		if (page->slots == NULL)
			continue;
		page_count++;
		count += page->count;
		sum += check_page(page);
		for (size_t k = block_set_page_home(blocks, page->number);
		     k != i; k = (k + 1) % n, page_sum++)
			want(blocks->pages[k].slots != NULL, "a gap");
	}
	ck_assert_uint_eq(page_count, blocks->page_count);
	ck_assert_uint_eq(count, blocks->count);
	ck_assert_uint_le(page_count, n / 2);
	*page_mean_ret = (double)page_sum / (double)(page_count + 1);
	return (double)sum / (double)(count + 1);
}

/* Some blocks need slots of four words, each because of a different field. */
static struct block
values_of(uint64_t object)
{
	struct block block = { .size = object,
			       .object = object,
			       .birth_time = UINT64_MAX - 1,
			       .birth_event = object };

	if (object % 300 == 0)
		block.size = ~object;
	if (object % 300 == 100)
		block.birth_event = BLOCK_EVENT_MAX;
	if (object % 300 == 200)
		block.size = (uint64_t)1 << 35;
	if (object % 300 == 201)
		block.size = ((uint64_t)1 << 35) - 1;
	return block;
}

static bool
are_equal(const struct block *a, const struct block *b)
{
	return a->size == b->size && a->object == b->object &&
	       a->birth_time == b->birth_time &&
	       a->birth_event == b->birth_event;
}

static void
put(struct block_set *blocks, uint64_t address, uint64_t object)
{
	const struct block block = values_of(object);
	bool added = false;

	want(block_set_put(blocks, address, &block, &added, NULL) && added,
	     "a block that is new");
}

static bool
has(const struct block_set *blocks, uint64_t address)
{
	struct block ignored;

	return block_set_find(blocks, address, &ignored);
}

static void
drop(struct block_set *blocks, uint64_t address, uint64_t object)
{
	const struct block want_block = values_of(object);
	struct block old;

	want(block_set_take(blocks, address, &old) &&
		     are_equal(&old, &want_block),
	     "what was taken");
	want(!block_set_take(blocks, address, &old), "taken twice");
}

/* The model: which of KEY_COUNT addresses are live. */
static uint64_t model[KEY_COUNT];

/*
 * Some pages are full to the last byte, some have blocks of 16 or 48 bytes,
 * some have one block.
 */
static uint64_t
key(size_t i)
{
	if (i < KEY_COUNT / 4)
		return i * 3;
	if (i < KEY_COUNT / 2)
		return 0x80000 + i * 16;
	return i < KEY_COUNT * 3 / 4 ? 0x100000 + i * 48 : i << 40;
}

static void
check_key(const struct block_set *blocks, size_t i)
{
	const struct block values = values_of(model[i]);
	struct block block;
	const bool lives = block_set_find(blocks, key(i), &block);

	want(lives == (model[i] != 0), "what lives");
	want(!lives || are_equal(&block, &values), "a block's values");
}

/* The walk visits each block once. */
static void
check_walk(const struct block_set *blocks)
{
	static bool seen[KEY_COUNT];
	struct block_walk walk = { 0 };
	struct block block;
	uint64_t address;
	size_t count = 0;

	memset(seen, 0, sizeof(seen));
	while (block_set_next(blocks, &walk, &address, &block)) {
		size_t i = 0;

		while (i < KEY_COUNT &&
		       (key(i) != address || model[i] != block.object))
			i++;
		want(i < KEY_COUNT && !seen[i], "a block to visit");
		seen[i] = true;
		count++;
	}
	ck_assert_uint_eq(count, blocks->count);
}

/* The neighbours of a key, by a search through the model; keys are sorted. */
static void
check_neighbours(const struct block_set *blocks, size_t i)
{
	struct block block, values;
	uint64_t address;
	size_t k = i;
	bool found = block_set_before(blocks, key(i), &address, &block);

	while (k > 0 && model[k - 1] == 0)
		k--;
	want(found == (k > 0), "one before");
	if (found) {
		values = values_of(model[k - 1]);
		want(address == key(k - 1) && are_equal(&block, &values),
		     "the one before");
	}
	for (k = i + 1; k < KEY_COUNT && model[k] == 0;)
		k++;
	found = block_set_after(blocks, key(i), UINT64_MAX, &address, &block);
	want(found == (k < KEY_COUNT), "one behind");
	if (!found)
		return;
	values = values_of(model[k]);
	want(address == key(k) && are_equal(&block, &values), "the one behind");
	want(block_set_after(blocks, key(i), address, &address, &block),
	     "up to the one behind");
	want(!block_set_after(blocks, key(i), address - 1, &address, &block),
	     "none up to the one behind");
	want(key(i) < 4096 || !block_set_after(blocks, key(i), key(i) - 4096,
					       &address, &block),
	     "none in an empty range");
}

START_TEST(it_agrees_with_a_model)
{
	struct block_set blocks;
	uint64_t seed = 1;
	size_t count = 0;
	double ignored;

	block_set_init(&blocks);
	for (uint64_t step = 1; step <= 200000; step++) {
		const size_t i = next_random(&seed) % KEY_COUNT;
		/* Long phases of growing and of shrinking. */
		const bool grows =
			next_random(&seed) % 100 < (step / 25000 % 2 ? 10 : 90);

		/* Turn the order on midway, with blocks in the set. */
		if (step == 100000)
			want(block_set_keep_order(&blocks), "an order");
		if (step >= 100000)
			check_neighbours(&blocks, i);
		check_key(&blocks, i);
		block_set_prefetch(&blocks, key(i));
		if (model[i] == 0 && grows) {
			put(&blocks, key(i), step);
			model[i] = step;
			count++;
		} else if (model[i] != 0 && !grows) {
			drop(&blocks, key(i), model[i]);
			model[i] = 0;
			count--;
		}
		want(blocks.count == count, "the count");
		if (step % 10000 == 0) {
			check_set(&blocks, &ignored);
			check_walk(&blocks);
		}
	}
	for (size_t i = 0; i < KEY_COUNT; i++)
		check_key(&blocks, i);
	block_set_fini(&blocks);
	ck_assert_uint_eq(blocks.count, 0);
	ck_assert(!has(&blocks, key(1)));
	put(&blocks, key(1), 1);
	block_set_fini(&blocks);
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
	struct block_set blocks;

	block_set_init(&blocks);
	block_set_prefetch(&blocks, 0);
	for (size_t i = 0; i < COUNT(keys); i++) {
		ck_assert(!has(&blocks, keys[i]));
		put(&blocks, keys[i], i + 1);
	}
	for (size_t i = 0; i < COUNT(keys); i++)
		ck_assert(has(&blocks, keys[i]));
	for (size_t i = 0; i < COUNT(keys); i++) {
		drop(&blocks, keys[i], i + 1);
		ck_assert(!has(&blocks, keys[i]));
	}
	ck_assert_uint_eq(blocks.count, 0);
	ck_assert_uint_eq(blocks.page_count, 0);
	block_set_fini(&blocks);
}
END_TEST

START_TEST(a_block_replaces_another)
{
	static const uint64_t objects[] = { 7, 300, 8, 100, 200, 9 };
	struct block_set blocks;
	struct block old;
	bool added;

	block_set_init(&blocks);
	put(&blocks, 4112, 1);
	put(&blocks, 4096, objects[0]);
	for (size_t i = 1; i < COUNT(objects); i++) {
		const struct block block = values_of(objects[i]);
		const struct block before = values_of(objects[i - 1]);

		ck_assert(block_set_put(&blocks, 4096, &block, &added, &old));
		ck_assert(!added);
		ck_assert(are_equal(&old, &before));
		ck_assert(block_set_find(&blocks, 4096, &old));
		ck_assert(are_equal(&old, &block));
		ck_assert_uint_eq(blocks.count, 2);
	}
	drop(&blocks, 4112, 1);
	drop(&blocks, 4096, 9);
	ck_assert_uint_eq(blocks.page_count, 0);
	block_set_fini(&blocks);
}
END_TEST

START_TEST(patterns_in_the_addresses_do_not_slow_searches)
{
	static const uint64_t strides[] = {
		1,
		2,
		3,
		8,
		16,
		32,
		48,
		80,
		1040,
		4096,
		(uint64_t)1 << 20,
		(uint64_t)1 << 32,
		(uint64_t)1 << 44,
		((uint64_t)1 << 44) + 16,
		0x9e3779b97f4a7c15,
		-(uint64_t)16,
		-(uint64_t)4096,
	};

	for (size_t s = 0; s < COUNT(strides); s++) {
		struct block_set blocks;
		double page_mean;

		block_set_init(&blocks);
		for (uint64_t i = 1; i <= 20000; i++) {
			/* Multiples of 2^44 wrap around after 2^20. */
			put(&blocks, 0x5555555540 + i * strides[s], i);
			if (i % 1000 != 0)
				continue;
			/* Sparse tables are at most half full. */
			ck_assert_double_lt(check_set(&blocks, &page_mean),
					    8.0);
			ck_assert_double_lt(page_mean, 3.0);
		}
		block_set_fini(&blocks);
	}
}
END_TEST

START_TEST(two_sets_hash_differently)
{
	struct block_set a, b;
	unsigned same = 0;

	block_set_init(&a);
	block_set_init(&b);
	a.page_shift = b.page_shift = 8;
	for (uint64_t i = 0; i < 1000; i++)
		same += block_set_page_home(&a, i) ==
			block_set_page_home(&b, i);
	ck_assert_uint_lt(same, 100);
}
END_TEST

/* The memory of a set in bytes. */
static size_t
memory(const struct block_set *blocks)
{
	return (blocks->pages == NULL
			? 0
			: sizeof(*blocks->pages) << blocks->page_shift) +
	       blocks->slab.nbytes;
}

START_TEST(memory_follows_the_count)
{
	/* Dense blocks, and one block in each page. */
	static const struct {
		uint64_t stride;
		/* bytes a block; during a resize both tables count */
		size_t bound;
	} cases[] = { { 16, 72 },  { 48, 72 },	 { 64, 72 },
		      { 128, 90 }, { 512, 200 }, { 4096, 400 } };

	for (size_t c = 0; c < COUNT(cases); c++) {
		const uint64_t stride = cases[c].stride;
		struct block_set blocks;

		block_set_init(&blocks);
		for (uint64_t i = 1; i <= 100000; i++) {
			put(&blocks, i * stride, 1);
			want(memory(&blocks) <= i * cases[c].bound + 131072,
			     "memory");
		}
		for (uint64_t i = 100000; i > 0; i--)
			drop(&blocks, i * stride, 1);
		ck_assert_uint_le(blocks.page_shift, 4);
		block_set_fini(&blocks);
	}
}
END_TEST

/* At this size chunks are 2 MiB, so no resize counts twice. */
START_TEST(a_dense_block_takes_32_bytes)
{
	static const uint64_t strides[] = { 16, 32,  48,  64,		80,
					    96, 112, 128, -(uint64_t)48 };

	for (size_t s = 0; s < COUNT(strides); s++) {
		struct block_set blocks;

		block_set_init(&blocks);
		for (uint64_t i = 1; i <= 1000000; i++)
			put(&blocks, 0x5555555540 + i * strides[s], 1);
		ck_assert_uint_le(memory(&blocks), 32 * 1000000 + (2 << 20));
		block_set_fini(&blocks);
	}
}
END_TEST

START_TEST(memory_does_not_follow_the_trace)
{
	struct block_set blocks;

	block_set_init(&blocks);
	/* A window of a thousand blocks moves through the addresses. */
	for (uint64_t i = 0; i < 2000000; i++) {
		put(&blocks, i * 48, i);
		if (i >= 1000)
			drop(&blocks, (i - 1000) * 48, i - 1000);
	}
	ck_assert_uint_le(memory(&blocks), (size_t)512 << 10);
	block_set_fini(&blocks);
}
END_TEST

START_TEST(arrays_are_reused_and_do_not_overlap)
{
	const size_t longest = slab_nbytes(SLAB_CLASS_COUNT - 1);
	struct slab slab = { 0 };
	uint8_t *arrays[64];
	size_t nbytes;

	ck_assert_uint_eq(slab_nbytes(0), SLAB_LINE_NBYTES);
	for (unsigned c = 0; c < SLAB_CLASS_COUNT; c++) {
		for (unsigned i = 0; i < COUNT(arrays); i++) {
			arrays[i] = slab_get(&slab, c);
			ck_assert_ptr_nonnull(arrays[i]);
			ck_assert_uint_eq((uintptr_t)arrays[i] % 64, 0);
			memset(arrays[i], (int)i, slab_nbytes(c));
		}
		for (unsigned i = 0; i < COUNT(arrays); i++) {
			ck_assert_uint_eq(arrays[i][0], i);
			ck_assert_uint_eq(arrays[i][slab_nbytes(c) - 1], i);
			slab_put(&slab, arrays[i], c);
		}
		ck_assert(c == 0 || slab_nbytes(c) > slab_nbytes(c - 1));
	}
	nbytes = slab.nbytes;
	/* Longer arrays are cut. */
	for (size_t i = 0; i < COUNT(arrays) * longest / SLAB_LINE_NBYTES; i++)
		want(slab_get(&slab, 0) != NULL, "an array");
	ck_assert_uint_eq(slab.nbytes, nbytes);
	slab_fini(&slab);
	ck_assert_uint_eq(slab.nbytes, 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		it_agrees_with_a_model,
		every_address_is_allowed,
		a_block_replaces_another,
		patterns_in_the_addresses_do_not_slow_searches,
		two_sets_hash_differently,
		memory_follows_the_count,
		a_dense_block_takes_32_bytes,
		memory_does_not_follow_the_trace,
		arrays_are_reused_and_do_not_overlap,
	};

	return hand_run("block_set", tests, COUNT(tests));
}
