/* SPDX-License-Identifier: MIT */
/*
 * test_plot_text.c
 *
 * Ticks of a picture are at round numbers, and no more than fit.  Shortened
 * names have the width that is asked for, are valid UTF-8, and keep what tells
 * the site.
 */
#include "tools/plot/plot_text.h"
#include "tools/plot/plot_ticks.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The second tick and the last of an axis from 0. */
static const struct {
	enum tick_kind kind;
	double last;
	const char *second, *end;
} axes[] = {
	{ TICKS_NBYTES, 1, "1 B", "1 B" },
	{ TICKS_NBYTES, 7, "5 B", "5 B" },
	{ TICKS_NBYTES, 1500, "0.5 KiB", "1.0 KiB" },
	{ TICKS_NBYTES, 104.5 * 1048576, "50 MiB", "100 MiB" },
	{ TICKS_NBYTES, 18446744073709551615.0, "10 EiB", "10 EiB" },
	{ TICKS_COUNT, 3, "1", "3" },
	{ TICKS_COUNT, 12345, "5 000", "10 000" },
	{ TICKS_NS, 3, "1 ns", "3 ns" },
	{ TICKS_NS, 2.9e9, "1 s", "2 s" },
	{ TICKS_NS, 0.9e9, "500 ms", "500 ms" },
	{ TICKS_NS, 600e9, "5 min", "10 min" },
	{ TICKS_NS, 5400e9, "30 min", "1 h 30 min" },
	{ TICKS_NS, 864000e9, "5 d", "10 d" },
};
#define AXIS_COUNT (sizeof(axes) / sizeof(axes[0]))

START_TEST(test_ticks)
{
	struct ticks t;

	ticks_make(&t, axes[_i].kind, 0, axes[_i].last, 1, 3);
	ck_assert_uint_ge(t.count, 2);
	ck_assert_uint_le(t.count, 4);
	ck_assert_str_eq(t.rows[0].label, "0");
	ck_assert_str_eq(t.rows[1].label, axes[_i].second);
	ck_assert_str_eq(t.rows[t.count - 1].label, axes[_i].end);
	for (unsigned n = 2; n <= 10; n++) {
		ticks_make(&t, axes[_i].kind, axes[_i].last / 3, axes[_i].last,
			   1, n);
		ck_assert_uint_le(t.count, n + 1);
	}
}
END_TEST

static const struct {
	const char *name;
	double width;
	const char *want;
} names[] = {
	{ "f (/src/a.c:3)", 900, "f (a.c:3)" },
	{ "/lib/x/libc.so.6+0x12", 900, "libc.so.6+0x12" },
	{ "a<b<c>, d>::f(int) (/s/a.c:3)", 140, "a<\u2026>::f(int) (a.c:3)" },
	{ "a<b<c>, d>::f(int, long) (/s/a.c:3)", 140,
	  "a<\u2026>::f(\u2026) (a.c:3)" },
	{ "cache<int, int>::operator<<(int)", 195,
	  "cache<\u2026>::operator<<(int)" },
	{ "p::operator->() const", 900, "p::operator->() const" },
	{ "cut<in the middle...", 40, "cut<\u2026" },
	{ "bad \xef\xbf\xbe \xf0\x9f\xbf\xbf", 900, "bad \ufffd \ufffd" },
};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

START_TEST(test_names)
{
	char buf[PLOT_NAME_NBYTES];

	ck_assert_str_eq(text_shorten(names[_i].name, 12, names[_i].width, buf),
			 names[_i].want);
}
END_TEST

/* A long name of characters with two bytes, to all widths. */
START_TEST(test_width)
{
	char name[1001] = "", buf[PLOT_NAME_NBYTES];

	for (int i = 0; i < 500; i++)
		memcpy(name + strlen(name), "\u00e9", 3);
	for (int width = 30; width < 3000; width += 7) {
		text_shorten(name, 12, width, buf);
		ck_assert(text_width(buf, 12) <= width);
		for (const char *at = buf; *at != '\0';) {
			const bool is_dots = strncmp(at, "\u2026", 3) == 0;

			ck_assert(is_dots || strncmp(at, "\u00e9", 2) == 0);
			at += is_dots ? 3 : 2;
		}
	}
}
END_TEST

START_TEST(test_program)
{
	char buf[PLOT_NAME_NBYTES];

	ck_assert_str_eq(text_program("/usr/bin/cc1 -quiet /a/b", buf), "cc1");
	ck_assert_str_eq(text_program("my\\x20app -x", buf), "my app");
	ck_assert_str_eq(text_program("", buf), "");
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("plot_text");
	TCase *const tcase = tcase_create("plot_text");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, test_ticks, 0, AXIS_COUNT);
	tcase_add_loop_test(tcase, test_names, 0, NAME_COUNT);
	tcase_add_test(tcase, test_width);
	tcase_add_test(tcase, test_program);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
