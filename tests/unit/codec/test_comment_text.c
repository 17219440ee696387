/* SPDX-License-Identifier: MIT */
/*
 * test_comment_text.c - comment lines are written whole or not at all
 *
 * A line must be written whole or not at all, and text_find() must return its
 * value, whatever bytes the value has, and for numbers at the limits.  Nothing
 * beyond 'cap' may be written.
 */
#include "hatf/codec/comment_text.h"

#include "tests/unit/support/checks.h"
#include <string.h>

#define GUARD 0x5a

static void
ck_text(const struct text *t, const char *want)
{
	ck_assert_uint_eq(t->used, strlen(want));
	ck_assert_mem_eq(t->buf, want, t->used);
}

START_TEST(numbers_at_their_limits)
{
	char buf[128];
	struct text t;

	text_init(&t, buf, sizeof(buf));
	text_u64(&t, 0);
	text_str(&t, " ");
	text_u64(&t, UINT64_MAX);
	text_str(&t, " ");
	text_hex(&t, 0);
	text_str(&t, " ");
	text_hex(&t, UINT64_MAX);
	text_str(&t, " ");
	text_hex(&t, 0x1a40);
	ck_text(&t, "0 18446744073709551615 0x0 0xffffffffffffffff 0x1a40");
	ck_assert(!t.full);
}
END_TEST

START_TEST(every_byte_survives_a_line)
{
	char all[256], buf[2048], out[300];
	struct text t;

	for (unsigned i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	text_init(&t, buf, sizeof(buf));
	text_line(&t, "key", all, sizeof(all));
	/* 33 bytes and the backslash are escaped. */
	ck_assert_uint_eq(t.used, 4 + 256 + 3 * 34 + 1);
	ck_assert_ptr_eq(memchr(buf, '\n', t.used), buf + t.used - 1);
	ck_assert_int_eq(text_find(buf, t.used, "key", out, sizeof(out)), 256);
	ck_assert_mem_eq(out, all, sizeof(all));
	ck_assert_int_eq(out[256], '\0');
}
END_TEST

START_TEST(a_line_that_does_not_fit_is_left_out)
{
	for (size_t cap = 0; cap < 40; cap++) {
		char buf[40];
		struct text t;

		memset(buf, GUARD, sizeof(buf));
		text_init(&t, buf, cap);
		text_line(&t, "a", "1\n2", 3);	/* a=1\x0a2\n: 9 bytes */
		text_line_u64(&t, "b", 123456); /* 9 bytes */
		text_line(&t, "", "", 0);	/* 2 bytes */
		ck_assert_int_eq(t.full, cap < 20);
		ck_assert_uint_eq(t.used, cap >= 20   ? 20
					  : cap >= 18 ? 18
					  : cap >= 11 ? 11
					  : cap >= 9  ? 9
					  : cap >= 2  ? 2
						      : 0);
		for (size_t i = cap; i < sizeof(buf); i++)
			ck_assert_int_eq(buf[i], GUARD);
	}
}
END_TEST

START_TEST(keys_are_found_whole)
{
	static const char text[] = "HATF 1.0\npid=12\nppid=7\nempty=\n"
				   "=odd\npid=13\nlast=end";
	const size_t nbytes = sizeof(text) - 1;
	char out[16];

	ck_assert_int_eq(text_find(text, nbytes, "pid", out, 16), 2);
	ck_assert_str_eq(out, "12");
	ck_assert_int_eq(text_find(text, nbytes, "ppid", out, 16), 1);
	ck_assert_str_eq(out, "7");
	ck_assert_int_eq(text_find(text, nbytes, "empty", out, 16), 0);
	ck_assert_str_eq(out, "");
	ck_assert_int_eq(text_find(text, nbytes, "last", out, 16), 3);
	ck_assert_str_eq(out, "end");
	ck_assert_int_eq(text_find(text, nbytes, "pi", out, 16), -1);
	ck_assert_int_eq(text_find(text, nbytes, "id", out, 16), -1);
	ck_assert_int_eq(text_find(text, nbytes, "HATF 1.0", out, 16), -1);
	ck_assert_int_eq(text_find(text, 0, "pid", out, 16), -1);
}
END_TEST

START_TEST(a_value_is_cut_to_the_room_there_is)
{
	static const char text[] = "key=abc\\x64\n";

	for (size_t cap = 0; cap < 8; cap++) {
		char out[8];

		memset(out, GUARD, sizeof(out));
		ck_assert_int_eq(
			text_find(text, sizeof(text) - 1, "key", out, cap), 4);
		for (size_t i = 0; i < sizeof(out); i++)
			ck_assert_int_eq(out[i], i >= cap || i > 4 ? GUARD
						 : i == cap - 1 || i == 4
							 ? '\0'
							 : "abcd"[i]);
	}
}
END_TEST

START_TEST(a_backslash_that_escapes_nothing_stays)
{
	static const char text[] = "k=\\x4\\xzz\\y\\x41\\";
	char out[32];

	ck_assert_int_eq(text_find(text, sizeof(text) - 1, "k", out, 32), 11);
	ck_assert_str_eq(out, "\\x4\\xzz\\yA\\");
}
END_TEST

START_TEST(only_whole_numbers_are_numbers)
{
	static const struct {
		const char *line;
		bool is_number;
		uint64_t n;
	} cases[] = {
		{ "n=0\n", true, 0 },
		{ "n=0000000123\n", true, 123 },
		{ "n=18446744073709551615\n", true, UINT64_MAX },
		{ "n=18446744073709551616\n", false, 0 },
		{ "n=99999999999999999999\n", false, 0 },
		{ "n=000000000000000000000000000000001\n", false, 0 },
		{ "n=\n", false, 0 },
		{ "n=-1\n", false, 0 },
		{ "n= 1\n", false, 0 },
		{ "n=1 \n", false, 0 },
		{ "n=0x1\n", false, 0 },
		{ "m=1\n", false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t n = 0;

		ck_assert_int_eq(text_find_u64(cases[i].line,
					       strlen(cases[i].line), "n", &n),
				 cases[i].is_number);
		ck_assert_uint_eq(n, cases[i].n);
	}
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("text");
	TCase *const tc = tcase_create("text");

	tcase_add_test(tc, numbers_at_their_limits);
	tcase_add_test(tc, every_byte_survives_a_line);
	tcase_add_test(tc, a_line_that_does_not_fit_is_left_out);
	tcase_add_test(tc, keys_are_found_whole);
	tcase_add_test(tc, a_value_is_cut_to_the_room_there_is);
	tcase_add_test(tc, a_backslash_that_escapes_nothing_stays);
	tcase_add_test(tc, only_whole_numbers_are_numbers);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
