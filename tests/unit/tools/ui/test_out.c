/* SPDX-License-Identifier: MIT */
/*
 * test_out.c - output is complete and keeps the first write error
 *
 * Numbers of every length equal printf's; a text longer than the buffer comes
 * out whole; the first failed write is remembered.
 */
#include "tools/ui/out.h"

#include "tests/unit/support/checks.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct out out;

static void
out_restart(int fd)
{
	out.fd = fd;
	out.sys_errno = 0;
	out.used = 0;
}

static void
ck_buffer(const char *want)
{
	ck_assert_uint_eq(out.used, strlen(want));
	ck_assert_mem_eq(out.buf, want, out.used);
	out.used = 0;
}

static void
ck_number(uint64_t n)
{
	char want[32];

	snprintf(want, sizeof(want), "%" PRIu64, n);
	out_u64(&out, n);
	ck_buffer(want);
	snprintf(want, sizeof(want), "0x%" PRIx64, n);
	out_hex(&out, n);
	ck_buffer(want);
}

START_TEST(numbers_of_every_length)
{
	out_restart(-1);
	ck_number(0);
	ck_number(UINT64_MAX);
	for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
		ck_number(power - 1);
		ck_number(power);
		ck_number(power + 1);
		ck_number(power * 7 + power / 3);
	}
	ck_number(10000000000000000000u);
	for (unsigned bit = 0; bit < 64; bit++) {
		ck_number(UINT64_C(1) << bit);
		ck_number((UINT64_C(1) << bit) - 1);
	}
}
END_TEST

START_TEST(what_is_longer_than_the_buffer)
{
	enum {
		NBYTES = 3 * OUT_NBYTES + 5
	};
	char path[] = "/tmp/test_out.XXXXXX";
	const int fd = mkstemp(path);
	char *const text = malloc(NBYTES), *const back = malloc(NBYTES);

	ck_assert_int_ge(fd, 0);
	unlink(path);
	for (size_t i = 0; i < NBYTES; i++)
		text[i] = (char)('a' + i % 23);
	out_restart(fd);
	out_bytes(&out, text, 1);
	out_bytes(&out, text + 1, NBYTES - 1);
	ck_assert_int_eq(out_finish(&out, 0), 0);
	ck_assert_int_eq(pread(fd, back, NBYTES, 0), NBYTES);
	ck_assert_mem_eq(back, text, NBYTES);
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), NBYTES);
	close(fd);
	free(text);
	free(back);
}
END_TEST

START_TEST(a_failed_write_is_remembered)
{
	const int fd = open("/dev/full", O_WRONLY);

	if (fd < 0)
		return;
	out_restart(fd);
	out_str(&out, "lost");
	ck_assert(!out_failed(&out));
	out_flush(&out);
	ck_assert(out_failed(&out));
	ck_assert_int_eq(out.sys_errno, ENOSPC);
	out_str(&out, "also lost");
	ck_assert_int_eq(out_finish(&out, 0), 1);
	close(fd);
}
END_TEST

START_TEST(quotes_and_controls)
{
	out_restart(-1);
	out_quoted(&out, (const uint8_t *)"a\"\\\n\0\xff", 6);
	ck_buffer("\"a\\\"\\\\\\n\\x00\\xff\"");
	out_text(&out, "a\"\\\n");
	ck_buffer("a\"\\\\x0a");
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("out");
	TCase *const tc = tcase_create("out");

	tcase_add_test(tc, numbers_of_every_length);
	tcase_add_test(tc, what_is_longer_than_the_buffer);
	tcase_add_test(tc, a_failed_write_is_remembered);
	tcase_add_test(tc, quotes_and_controls);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
