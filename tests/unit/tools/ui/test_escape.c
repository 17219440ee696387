/* SPDX-License-Identifier: MIT */
/*
 * test_escape.c - output is valid UTF-8 without terminal controls
 *
 * Whatever bytes a trace has, the output is valid UTF-8 without terminal
 * controls.  Printable text stays as it is, and the output does not exceed its
 * bound.
 */
#include "tools/ui/escape.h"
#include "tools/ui/figure.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *want;
} cases[] = {
	{ "", "" },
	{ "plain ~", "plain ~" },
	{ "\x1b[2J\r\x7f", "\\x1b[2J\\x0d\\x7f" },
	{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "\xc2\x9b", "\\xc2\\x9b" },			/* C1: CSI */
	{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },		/* right to left */
	{ "\xc0\x80", "\\xc0\\x80" },			/* overlong */
	{ "\xe0\x80\x80", "\\xe0\\x80\\x80" },		/* overlong */
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },		/* surrogate */
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* too large */
	{ "a\xe2\x82", "a\\xe2\\x82" },			/* cut off */
	{ "\xe2\x41", "\\xe2\x41" },
};

START_TEST(text)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[64];

		escape_text(cases[i].text, out, sizeof(out));
		ck_assert_str_eq(out, cases[i].want);
	}
}
END_TEST

START_TEST(text_is_cut_between_characters)
{
	const char *const want = "ab\xc3\xa9\\x1b";

	for (size_t cap = 1; cap <= strlen(want) + 1; cap++) {
		char *const out = malloc(cap);

		escape_text("ab\xc3\xa9\x1b", out, cap);
		ck_assert_uint_lt(strlen(out), cap);
		ck_assert_mem_eq(out, want, strlen(out));
		ck_assert_uint_ne(strlen(out), 3);
		free(out);
	}
}
END_TEST

START_TEST(utf8_keeps_what_is_valid)
{
	char *const copy = escape_utf8("\x1b\xc2\x9b\xff\xc3\xa9\xe2");

	ck_assert_str_eq(copy, "\x1b\xc2\x9b\\xff\xc3\xa9\\xe2");
	free(copy);
}
END_TEST

START_TEST(finds_what_is_not_shown)
{
	static const struct {
		const char *text;
		size_t before, length;
		uint32_t code;
	} finds[] = {
		{ "", 0, 0, 0 },
		{ "plain \xc3\xa9", 8, 0, 0 },
		{ "a\x7fz", 1, 1, 0x7f },
		{ "\xc3\xa9\xc2\x9bz", 2, 2, 0x9b },
		{ "ab\xe2\x80\xae", 2, 3, 0x202e },
	};

	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		uint32_t code = 0;
		size_t length;

		ck_assert_uint_eq(escape_find(finds[i].text, &code, &length),
				  finds[i].before);
		ck_assert_uint_eq(length, finds[i].length);
		if (length != 0)
			ck_assert_uint_eq(code, finds[i].code);
	}
}
END_TEST

START_TEST(figures)
{
	ck_assert_str_eq(figure_count(0).text, "0");
	ck_assert_str_eq(figure_count(999).text, "999");
	ck_assert_str_eq(figure_count(1234567).text, "1 234 567");
	ck_assert_str_eq(figure_count(UINT64_MAX).text,
			 "18 446 744 073 709 551 615");
	ck_assert_str_eq(figure_nbytes(1023).text, "1023 B");
	ck_assert_str_eq(figure_nbytes(1024).text, "1.0 KiB");
	ck_assert_str_eq(figure_nbytes((1 << 20) - 1).text, "1.0 MiB");
	ck_assert_str_eq(figure_nbytes(UINT64_MAX).text, "16.0 EiB");
	ck_assert_str_eq(figure_ns(0).text, "0 ns");
	ck_assert_str_eq(figure_ns(1500).text, "1.500 us");
	ck_assert_str_eq(figure_ns(12345678).text, "12.346 ms");
	ck_assert_str_eq(figure_ns(59999000000).text, "59.999 s");
	ck_assert_str_eq(figure_ns(61000000000).text, "1 min 01 s");
	ck_assert_str_eq(figure_ns(7380000000000).text, "2 h 03 min");
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("escape");
	TCase *const tc = tcase_create("escape");

	tcase_add_test(tc, text);
	tcase_add_test(tc, text_is_cut_between_characters);
	tcase_add_test(tc, utf8_keeps_what_is_valid);
	tcase_add_test(tc, finds_what_is_not_shown);
	tcase_add_test(tc, figures);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
