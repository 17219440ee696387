/* SPDX-License-Identifier: MIT */
/*
 * test_verdict.c - each rule of a change decides, just below and just above
 *
 * The runs of a case differ in one point from those of the case beside it.
 */
#include "tools/compare/verdict.h"

#include "tests/unit/support/checks.h"
#include <string.h>

#define RUNS 4

/* Values end with a 0. */
static const struct {
	uint64_t old_runs[RUNS], new_runs[RUNS], total;
	enum verdict verdict;
} cases[] = {
	{ { 100 }, { 100 }, 100, VERDICT_SAME },
	{ { 100 }, { 120 }, 100, VERDICT_GREW },
	{ { 120 }, { 100 }, 100, VERDICT_SHRANK },
	/* The floor is 5 % of the old median. */
	{ { 100 }, { 105 }, 100, VERDICT_SAME },
	{ { 100 }, { 106 }, 100, VERDICT_GREW },
	/* The other floor is 1 % of the program. */
	{ { 100 }, { 120 }, 2000, VERDICT_SAME },
	{ { 100 }, { 121 }, 2000, VERDICT_GREW },
	/* The spread of the old side, and of the new one: 20. */
	{ { 100, 110, 120 }, { 130, 130, 131 }, 100, VERDICT_SAME },
	{ { 100, 110, 120 }, { 131, 131, 132 }, 100, VERDICT_GREW },
	{ { 200, 200, 200 }, { 210, 220, 230 }, 100, VERDICT_SAME },
	{ { 199, 199, 199 }, { 210, 220, 230 }, 100, VERDICT_GREW },
	/* Of a single new run, or old one, twice the spread of 10. */
	{ { 100, 100, 110 }, { 120 }, 100, VERDICT_SAME },
	{ { 100, 100, 110 }, { 121 }, 100, VERDICT_GREW },
	{ { 130 }, { 100, 110, 110 }, 100, VERDICT_SAME },
	{ { 131 }, { 100, 110, 110 }, 100, VERDICT_SHRANK },
	/* A new value among the old ones. */
	{ { 100, 100, 110 }, { 110, 112, 112 }, 100, VERDICT_SAME },
	{ { 100, 100, 110 }, { 111, 112, 112 }, 100, VERDICT_GREW },
	{ { 110, 112, 112 }, { 100, 100, 110 }, 100, VERDICT_SAME },
	{ { 111, 112, 112 }, { 100, 100, 110 }, 100, VERDICT_SHRANK },
};

static struct verdict_side
make_side(const uint64_t *runs)
{
	uint64_t values[RUNS];
	size_t count = 0;

	while (runs[count] != 0)
		count++;
	memcpy(values, runs, sizeof(values));
	return verdict_side_make(values, count);
}

START_TEST(each_rule_decides)
{
	const struct verdict_options options = { .floor = 0.05,
						 .total_floor = 0.01,
						 .spread_factor = 1 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct verdict_side old = make_side(cases[i].old_runs);
		const struct verdict_side new = make_side(cases[i].new_runs);

		ck_assert_msg(verdict_judge(&old, &new, cases[i].total,
					    &options) == cases[i].verdict,
			      "case %zu", i);
	}
}
END_TEST

START_TEST(medians_do_not_overflow)
{
	uint64_t values[] = { UINT64_MAX, UINT64_MAX - 2 };
	const struct verdict_side side = verdict_side_make(values, 2);

	ck_assert_uint_eq(side.median, UINT64_MAX - 1);
	ck_assert_uint_eq(side.min, UINT64_MAX - 2);
	ck_assert_uint_eq(side.max, UINT64_MAX);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("verdict");
	TCase *const tc = tcase_create("verdict");

	tcase_add_test(tc, each_rule_decides);
	tcase_add_test(tc, medians_do_not_overflow);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
