/* SPDX-License-Identifier: MIT */
/*
 * test_live_table.c - a table finds each live block by its object or address
 *
 * Random blocks come and go in clusters of keys.  After each step the table has
 * what an array has, whether objects or addresses are the keys, and also after
 * a change from objects to addresses.
 */
#include "tools/summary/live_table.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>

#define BLOCK_COUNT 3000 /* the table grows */
#define STEP_COUNT  200000

/* Block 'i' of the array. */
static struct live_block
make_block(uint64_t i, uint64_t spacing)
{
	return (struct live_block){
		.object = i + 1,
		.address = 4096 + spacing * i,
		.size = i,
		.stack = (uint32_t)i,
		.lane_plus_1 = 1 + (uint32_t)i,
	};
}

static void
check_block(const struct live_table *t, const struct live_block *want,
	    bool is_live)
{
	const struct live_block *const got =
		live_table_find(t, want->object, want->address);

	ck_assert_int_eq(got != NULL, is_live);
	if (is_live)
		ck_assert_uint_eq(got->size, want->size);
}

/* Put the block if it is not live, and take it if it is. */
static void
flip(struct live_table *t, const struct live_block *b, bool *is_live)
{
	struct live_block old;

	if (*is_live) {
		ck_assert(live_table_take(t, b->object, b->address, &old));
		ck_assert_uint_eq(old.size, b->size);
		ck_assert(!live_table_take(t, b->object, b->address, &old));
	} else {
		ck_assert(live_table_put(t, b, &old));
		ck_assert_uint_eq(old.lane_plus_1, 0);
	}
	*is_live = !*is_live;
}

static void
run(uint64_t spacing, bool by_address, int change_at)
{
	static bool is_live[BLOCK_COUNT];
	struct live_table t = { .by_address = by_address };
	size_t count = 0;

	for (size_t i = 0; i < BLOCK_COUNT; i++)
		is_live[i] = false;
	srand(1);
	for (int step = 0; step < STEP_COUNT; step++) {
		const size_t i = (size_t)(rand() % BLOCK_COUNT) *
				 (size_t)(rand() % 64) / 64;
		const struct live_block b = make_block(i, spacing);

		if (step == change_at)
			ck_assert(live_table_use_addresses(&t));
		flip(&t, &b, &is_live[i]);
		count += is_live[i] ? 1 : (size_t)-1;
		ck_assert_uint_eq(t.count, count);
		check_block(&t, &b, is_live[i]);
	}
	for (size_t i = 0; i < BLOCK_COUNT; i++) {
		const struct live_block b = make_block(i, spacing);

		check_block(&t, &b, is_live[i]);
	}
	live_table_free(&t);
}

START_TEST(test_objects)
{
	run(16, false, -1);
}
END_TEST

START_TEST(test_addresses)
{
	static const uint64_t spacings[] = { 1, 16, 48, 4096 };

	run(spacings[_i], true, -1);
}
END_TEST

START_TEST(test_change_to_addresses)
{
	static const int moments[] = { 0, 1, 1000, STEP_COUNT / 2 };

	run(32, false, moments[_i]);
}
END_TEST

START_TEST(test_replaced_address)
{
	struct live_table t = { .by_address = true };
	struct live_block first = make_block(1, 16), second = first, old;

	second.object = 9;
	second.size = 77;
	ck_assert(live_table_put(&t, &first, &old));
	ck_assert(live_table_put(&t, &second, &old));
	ck_assert_uint_eq(old.object, first.object);
	ck_assert_uint_eq(t.count, 1);
	ck_assert(live_table_take(&t, 0, first.address, &old));
	ck_assert_uint_eq(old.size, 77);
	live_table_free(&t);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("live_table");
	TCase *const tcase = tcase_create("live_table");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, test_objects);
	tcase_add_loop_test(tcase, test_addresses, 0, 4);
	tcase_add_loop_test(tcase, test_change_to_addresses, 0, 4);
	tcase_add_test(tcase, test_replaced_address);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
