/* SPDX-License-Identifier: MIT */
/*
 * test_heaps.c - destroying a heap frees its memory and no other heap's
 *
 * Destroying a heap frees all of its memory and does not change other heaps.
 * Programs make a pool for each request, in any number.
 */
#include "hatf/containers/heaps.h"
#include "tests/unit/support/hand.h"

static void
put(struct heaps *heaps, uint64_t id, uint64_t address, uint64_t size)
{
	struct block block = { .size = size };
	struct heap *const heap = heaps_get(heaps, id);
	bool replaced;

	ck_assert_ptr_nonnull(heap);
	ck_assert(heaps_put(heaps, heap, address, &block, &replaced, NULL));
	ck_assert(!replaced);
}

static uint64_t
size_of(struct heaps *heaps, uint64_t id, uint64_t address)
{
	struct heap *const heap = heaps_get(heaps, id);
	struct block block;

	return heaps_find_block(heaps, heap, address, &block) ? block.size : 0;
}

START_TEST(dead_heaps_take_no_memory)
{
	struct heaps heaps;

	heaps_init(&heaps, true);
	for (uint64_t id = 1; id <= 10000; id++) {
		put(&heaps, id, 0x1000, id);
		/* Every hundredth heap stays. */
		if (id % 100 != 0)
			heaps_clear(&heaps, id);
	}
	ck_assert_uint_eq(heaps.other_count, 100);
	ck_assert_uint_eq(u64_map_count(&heaps.index), 100);
	ck_assert_uint_le(heaps.other_cap, 128);
	ck_assert_uint_eq(heaps.live_count, 100);
	for (uint64_t id = 100; id <= 10000; id += 100)
		ck_assert_uint_eq(size_of(&heaps, id, 0x1000), id);
	/* Destroy in any order; an unknown heap is ignored. */
	for (uint64_t id = 10100; id != 0; id -= 100)
		heaps_clear(&heaps, id);
	ck_assert_uint_eq(heaps.other_count, 0);
	ck_assert_uint_eq(heaps.live_count, 0);
	ck_assert_uint_eq(heaps.live_nbytes, 0);
	/* Reuse the id. */
	put(&heaps, 7, 0x2000, 5);
	ck_assert_uint_eq(size_of(&heaps, 7, 0x1000), 0);
	ck_assert_uint_eq(size_of(&heaps, 7, 0x2000), 5);
	heaps_fini(&heaps);
}
END_TEST

START_TEST(the_first_heap_stays)
{
	struct heaps heaps;

	heaps_init(&heaps, true);
	put(&heaps, 0, 0x1000, 8);
	heaps_clear(&heaps, 0);
	ck_assert_uint_eq(heaps.live_count, 0);
	put(&heaps, 0, 0x1000, 9);
	ck_assert_uint_eq(size_of(&heaps, 0, 0x1000), 9);
	heaps_fini(&heaps);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		dead_heaps_take_no_memory,
		the_first_heap_stays,
	};

	return hand_run("heaps", tests, sizeof(tests) / sizeof(tests[0]));
}
