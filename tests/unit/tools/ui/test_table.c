/* SPDX-License-Identifier: MIT */
/*
 * test_table.c - tables align, and missing figures enter no average
 *
 * A missing figure is '-' in each format and enters no average.  An average is
 * that of its own source's figures, without other averages.  Columns align,
 * whatever they contain.  CSV keeps every digit.
 */
#include "tools/measure/samples.h"
#include "tools/ui/table.h"

#include "tests/unit/support/checks.h"
#include <math.h>

static struct out out;

static const char *const columns[] = { "one", "a \"two\", b", NULL };
static const char *const parts[] = { "left", "right", NULL };

static struct table
make_grid(void)
{
	struct table g = {
		.key = "4",
		.title = "sizes",
		.unit = "bytes",
		.columns = columns,
		.parts = parts,
	};
	struct table_row *row = table_add(&g, TABLE_MEASURED, "x");

	row->figures[0][0] = 16;
	row->figures[0][1] = 2.5;
	row->figures[1][0] = 1.0 / 3;
	row = table_add(&g, TABLE_MEASURED, "y|\x1b");
	row->figures[0][0] = 123456.7;
	row->figures[0][1] = 0.125;
	row = table_add(&g, TABLE_PAPER, "p");
	row->figures[0][0] = 999.44;
	row->figures[0][1] = 99.96;
	table_add_average(&g, TABLE_MEASURED, "average");
	return g;
}

static void
ck_printed(enum table_format format, const char *want)
{
	struct table g = make_grid();

	ck_assert(!g.no_memory);
	out.fd = -1;
	out.used = 0;
	table_print(&g, &out, format);
	table_free(&g);
	out_bytes(&out, "", 1);
	ck_assert_str_eq(out.buf, want);
}

START_TEST(text)
{
	ck_printed(TABLE_TEXT, "\nTable 4: sizes, bytes (left / right)\n\n"
			       "program             one  a \"two\", b\n"
			       "x          16.00 / 2.50    0.33 / -\n"
			       "y!\\x1b    123457 / 0.12           -\n"
			       "paper: p  999.4 / 100.0           -\n"
			       "average    61736 / 1.31           -\n");
}
END_TEST

START_TEST(markdown)
{
	ck_printed(TABLE_MARKDOWN,
		   "\n### Table 4: sizes, bytes (left / right)\n"
		   "\n"
		   "| program  |           one | a \"two\", b |\n"
		   "|---|---:|---:|\n"
		   "| x        |  16.00 / 2.50 |   0.33 / - |\n"
		   "| y!\\x1b   | 123457 / 0.12 |          - |\n"
		   "| paper: p | 999.4 / 100.0 |          - |\n"
		   "| average  |  61736 / 1.31 |          - |\n");
}
END_TEST

START_TEST(csv)
{
	ck_printed(TABLE_CSV,
		   "4,measured,x,one,left,16\n"
		   "4,measured,x,one,right,2.5\n"
		   "4,measured,x,\"a \"\"two\"\", b\",left,0.333333333333333\n"
		   "4,measured,x,\"a \"\"two\"\", b\",right,-\n"
		   "4,measured,y|\\x1b,one,left,123456.7\n"
		   "4,measured,y|\\x1b,one,right,0.125\n"
		   "4,measured,y|\\x1b,\"a \"\"two\"\", b\",left,-\n"
		   "4,measured,y|\\x1b,\"a \"\"two\"\", b\",right,-\n"
		   "4,paper,p,one,left,999.44\n"
		   "4,paper,p,one,right,99.96\n"
		   "4,paper,p,\"a \"\"two\"\", b\",left,-\n"
		   "4,paper,p,\"a \"\"two\"\", b\",right,-\n"
		   "4,measured,average,one,left,61736.35\n"
		   "4,measured,average,one,right,1.3125\n"
		   "4,measured,average,\"a \"\"two\"\", b\",left,-\n"
		   "4,measured,average,\"a \"\"two\"\", b\",right,-\n");
}
END_TEST

START_TEST(averages)
{
	struct table g = { .columns = columns };
	struct table_row *row =
		table_add_average(&g, TABLE_MEASURED, "of nothing");

	ck_assert(isnan(row->figures[0][0]));
	/* Many rows, so that the grid grows. */
	for (int i = 1; i <= 100; i++)
		table_add(&g, TABLE_MEASURED, "m")->figures[0][0] = i;
	table_add(&g, TABLE_PAPER, "p")->figures[0][0] = 7;
	row = table_add_average(&g, TABLE_MEASURED, "average");
	ck_assert_double_eq(row->figures[0][0], 50.5);
	row = table_add_average(&g, TABLE_MEASURED, "the same again");
	ck_assert_double_eq(row->figures[0][0], 50.5);
	row = table_add_average(&g, TABLE_PAPER, "paper's");
	ck_assert_double_eq(row->figures[0][0], 7);
	table_add(&g, TABLE_MEASURED, "unknown");
	row = table_add_average(&g, TABLE_MEASURED, "average");
	ck_assert(isnan(row->figures[0][0]));
	table_free(&g);
}
END_TEST

START_TEST(medians)
{
	struct samples s = { .count = 0 };

	ck_assert(isnan(samples_median(&s)));
	samples_add(&s, 9);
	ck_assert_double_eq(samples_median(&s), 9);
	samples_add(&s, 1);
	ck_assert_double_eq(samples_median(&s), 5);
	samples_add(&s, 2);
	ck_assert_double_eq(samples_median(&s), 2);
	for (int i = 0; i < 2 * SAMPLES_MAX; i++)
		samples_add(&s, 100);
	ck_assert_double_eq(samples_median(&s), 100);
	ck_assert_double_gt(samples_clock(), 0);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("table");
	TCase *const tc = tcase_create("table");

	tcase_add_test(tc, text);
	tcase_add_test(tc, markdown);
	tcase_add_test(tc, csv);
	tcase_add_test(tc, averages);
	tcase_add_test(tc, medians);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
