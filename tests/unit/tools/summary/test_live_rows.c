/* SPDX-License-Identifier: MIT */
/*
 * test_live_rows.c - a row that was never used has no block
 */
#include "tests/unit/support/hand.h"
#include "tools/summary/live_rows.h"

START_TEST(rows_begin_without_a_block)
{
	static const uint32_t numbers[] = { 1, 2, 17, 16, 5000, 4999 };
	const size_t count = sizeof(numbers) / sizeof(numbers[0]);
	struct live_rows t = { 0 };

	ck_assert_ptr_null(live_rows_find(&t, 0));
	for (size_t i = 0; i < count; i++) {
		ck_assert_ptr_null(live_rows_find(&t, numbers[i]));
		ck_assert(live_rows_reach(&t, numbers[i]));
		ck_assert_ptr_null(live_rows_find(&t, numbers[i]));
		t.rows[numbers[i]] = (struct live_block){
			.size = i,
			.lane_plus_1 = 1,
		};
	}
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(live_rows_find(&t, numbers[i])->size, i);
	/* All other rows are free. */
	for (uint32_t n = 0, found = 0; n < 6000; n++) {
		found += live_rows_find(&t, n) != NULL;
		ck_assert_uint_le(found, count);
	}
	ck_assert_ptr_null(live_rows_find(&t, 18));
	ck_assert_ptr_null(live_rows_find(&t, UINT32_MAX));
	live_rows_free(&t);
	ck_assert_ptr_null(live_rows_find(&t, 1));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { rows_begin_without_a_block };

	return hand_run("live rows", tests, sizeof(tests) / sizeof(tests[0]));
}
