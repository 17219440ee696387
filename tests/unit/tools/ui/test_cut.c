/* SPDX-License-Identifier: MIT */
/*
 * test_cut.c - a long text loses its middle, and no part of a character
 *
 * Each length of a text, in pieces of each size.  Texts that differ stay
 * different.
 */
#include "tools/ui/cut.h"
#include "tools/ui/escape.h"

#include "tests/unit/support/checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cut a text that arrives in pieces of 'step' bytes. */
static void
cut(char *buf, size_t cap, const char *text, size_t step)
{
	struct cut c;

	cut_begin(&c, buf, cap);
	for (size_t left = strlen(text); left > 0;) {
		const size_t n = left < step ? left : step;

		cut_bytes(&c, text, n);
		text += n;
		left -= n;
	}
	ck_assert_ptr_eq(cut_end(&c), buf);
}

START_TEST(start_and_end_stay)
{
	char text[301], buf[CUT_NBYTES_MIN];

	for (size_t n = 0; n < sizeof(text); n++) {
		for (size_t i = 0; i < n; i++)
			text[i] = (char)('a' + i % 26);
		text[n] = '\0';
		cut(buf, sizeof(buf), text, n % 7 + 1);
		if (n < sizeof(buf)) {
			ck_assert_str_eq(buf, text);
			continue;
		}
		ck_assert_uint_eq(strlen(buf), sizeof(buf) - 1);
		ck_assert_mem_eq(buf, text, 20);
		ck_assert_mem_eq(buf + 20, "...", 3);
		ck_assert_mem_eq(buf + 39, "...", 3);
		ck_assert_str_eq(buf + 42, text + n - 21);
	}
}
END_TEST

START_TEST(characters_stay_whole)
{
	static const char *const characters[] = { "\xc3\xa9", "\xe2\x82\xac",
						  "\xf0\x9f\x98\x80" };

	for (size_t kind = 0; kind < 3; kind++)
		for (size_t n = 0; n < 60; n++) {
			char text[512], buf[CUT_NBYTES_MIN + 3];
			char *valid;

			memset(text, 'a', n);
			text[n] = '\0';
			for (size_t i = 0; i < 100; i++)
				strcat(text, characters[kind]);
			cut(buf, sizeof(buf) - n % 4, text, 5);
			valid = escape_utf8(buf);
			ck_assert_str_eq(buf, valid);
			ck_assert_uint_gt(strlen(buf), CUT_NBYTES_MIN - 8);
			free(valid);
		}
}
END_TEST

START_TEST(any_bytes_fit)
{
	char text[200], buf[CUT_NBYTES_MIN];

	for (unsigned byte = 1; byte < 256; byte++) {
		memset(text, (int)byte, sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		cut(buf, sizeof(buf), text, sizeof(text));
		ck_assert_uint_lt(strlen(buf), sizeof(buf));
	}
}
END_TEST

START_TEST(different_texts_stay_different)
{
	char text[301], first[CUT_NBYTES_MIN], other[CUT_NBYTES_MIN];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cut(first, sizeof(first), text, 3);
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		text[i] = 'y';
		cut(other, sizeof(other), text, 4);
		ck_assert_str_ne(first, other);
		text[i] = 'x';
	}
	cut(other, sizeof(other), text, 5);
	ck_assert_str_eq(first, other);
}
END_TEST

START_TEST(escaped)
{
	char buf[CUT_NBYTES_MIN];
	struct cut c;

	cut_begin(&c, buf, sizeof(buf));
	cut_escaped(&c, "\x1b[2J\xc3\xa9.", 6);
	ck_assert_str_eq(cut_end(&c), "\\x1b[2J\xc3\xa9");
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("cut");
	TCase *const tc = tcase_create("cut");

	tcase_add_test(tc, start_and_end_stay);
	tcase_add_test(tc, characters_stay_whole);
	tcase_add_test(tc, any_bytes_fit);
	tcase_add_test(tc, different_texts_stay_different);
	tcase_add_test(tc, escaped);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
