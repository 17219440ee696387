/* SPDX-License-Identifier: MIT */
/*
 * test_replay_verdict.c - the best allocator, and those within the spread
 *
 * Each case has the least, the median and the most of up to four allocators.
 */
#include "tools/replay/replay_verdict.h"

#include "tests/unit/support/checks.h"
#include <math.h>
#include <stdlib.h>

#define COLUMNS 4

/* An allocator whose most is 0 has failed. */
static const struct {
	unsigned count;
	struct {
		uint64_t min, median, max;
	} spreads[COLUMNS];
	unsigned best;
	/* Does it equal the best one?  The best one equals itself. */
	bool equal[COLUMNS];
} cases[] = {
	{ 1, { { 5, 6, 7 } }, 0, { true } },
	/* The ranges overlap, touch, do not touch. */
	{ 2, { { 90, 120, 130 }, { 90, 100, 110 } }, 1, { true, true } },
	{ 2, { { 110, 120, 130 }, { 90, 100, 110 } }, 1, { true, true } },
	{ 2, { { 111, 120, 130 }, { 90, 100, 110 } }, 1, { false, true } },
	/* One range is in the other. */
	{ 2, { { 10, 120, 900 }, { 99, 100, 101 } }, 1, { true, true } },
	/* Without a spread, 1 % of the lower median is equal, more is not. */
	{ 2, { { 200, 200, 200 }, { 202, 202, 202 } }, 0, { true, true } },
	{ 2, { { 200, 200, 200 }, { 203, 203, 203 } }, 0, { true, false } },
	/* The second overlaps both, but only the best one counts. */
	{ 3,
	  { { 90, 100, 110 }, { 105, 120, 140 }, { 130, 150, 160 } },
	  0,
	  { true, true, false } },
	/* Nothing is less than nothing. */
	{ 2, { { 0, 0, 1 }, { 0, 0, 5 } }, 0, { true, true } },
	{ 2, { { 0, 0, 1 }, { 2, 2, 2 } }, 0, { true, false } },
	/* Failed allocators are neither the best nor equal to it. */
	{ 3,
	  { { 0, 0, 0 }, { 100, 100, 101 }, { 0, 0, 0 } },
	  1,
	  { false, true, false } },
	{ 4,
	  { { 300, 300, 301 },
	    { 0, 0, 0 },
	    { 98, 100, 104 },
	    { 104, 109, 115 } },
	  2,
	  { false, false, true, true } },
};

START_TEST(ranges_that_overlap_are_equal)
{
	struct replay_runs *const runs = calloc(1, sizeof(*runs));

	ck_assert_ptr_nonnull(runs);
	runs->count = cases[_i].count;
	for (unsigned i = 0; i < runs->count; i++) {
		struct replay_column *const c = &runs->columns[i];

		c->measures[REPLAY_WALL] = (struct replay_spread){
			.median = cases[_i].spreads[i].median,
			.min = cases[_i].spreads[i].min,
			.max = cases[_i].spreads[i].max,
		};
		c->fault[0] = cases[_i].spreads[i].max == 0 ? '!' : '\0';
	}
	ck_assert_uint_eq(verdict_best(runs, REPLAY_WALL), cases[_i].best);
	for (unsigned i = 0; i < runs->count; i++)
		ck_assert_int_eq(
			verdict_is_equal(runs, REPLAY_WALL, cases[_i].best, i),
			cases[_i].equal[i]);
	free(runs);
}
END_TEST

START_TEST(a_failed_first_column_has_no_ratio)
{
	static struct replay_runs runs = { .count = 2 };

	runs.columns[0].fault[0] = '!';
	runs.columns[1].measures[REPLAY_WALL].median = 5;
	ck_assert(isnan(verdict_ratio(&runs, REPLAY_WALL, 1)));
	runs.columns[0].fault[0] = '\0';
	runs.columns[0].measures[REPLAY_WALL].median = 4;
	ck_assert_double_eq(verdict_ratio(&runs, REPLAY_WALL, 1), 1.25);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("replay_verdict");
	TCase *const tc = tcase_create("replay_verdict");

	tcase_add_loop_test(tc, ranges_that_overlap_are_equal, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, a_failed_first_column_has_no_ratio);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
