/* SPDX-License-Identifier: MIT */
/*
 * test_processors.c - no processor is idle if more threads are ready
 *
 * The test replaces the system calls, because the number of threads that are
 * ready changes all the time.
 */
#include "tests/unit/support/checks.h"
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/sys/processors.h"

#define FD 7

static const char *line;    /* the content of /proc/loadavg; NULL: none */
static unsigned processors; /* 0: the kernel does not tell */
static int open_count;
static bool has_filter; /* a filter that kills for the other system calls */

static long
refuse(int error)
{
	errno = error;
	return -1;
}

static long
open_file(const char *path)
{
	if (line == NULL)
		return refuse(EACCES);
	ck_assert_str_eq(path, "/proc/loadavg");
	open_count++;
	return FD;
}

static long
read_file(long fd, char *buf, size_t size)
{
	const size_t n = strlen(line);

	ck_assert_int_eq(fd, FD);
	ck_assert_uint_gt(size, 0);
	memcpy(buf, line, n < size ? n : size);
	return (long)(n < size ? n : size);
}

static long
get_affinity(size_t size, unsigned char *mask)
{
	if (processors == 0)
		return refuse(EPERM);
	ck_assert_uint_ge(size, 128);
	memset(mask, 0, 128);
	/* every third processor */
	for (unsigned i = 0; i < processors; i++)
		mask[3 * i / 8] |= (unsigned char)(1u << 3 * i % 8);
	return 128;
}

/* Replaces the recorder's function. */
long own_syscall(long number, ...);
long
own_syscall(long number, ...)
{
	va_list args;
	long result = -1, first;
	void *second;
	size_t third;

	ck_assert(!has_filter);

	va_start(args, number);
	first = va_arg(args, long);
	if (number == SYS_openat) {
		result = open_file(va_arg(args, const char *));
	} else if (number == SYS_read) {
		second = va_arg(args, void *);
		third = va_arg(args, size_t);
		result = read_file(first, second, third);
	} else if (number == SYS_sched_getaffinity) {
		third = va_arg(args, size_t);
		result = get_affinity(third, va_arg(args, void *));
	} else {
		ck_assert_int_eq(number, SYS_close);
		ck_assert_int_eq(first, FD);
		open_count--;
		result = 0;
	}
	va_end(args);
	return result;
}

/* Replaces the recorder's function. */
int own_prctl(int option, ...);
int
own_prctl(int option, ...)
{
	ck_assert_int_eq(option, PR_GET_SECCOMP);
	return has_filter ? 2 : 0;
}

static bool
are_busy(const char *loadavg, unsigned count)
{
	bool result;

	line = loadavg;
	processors = count;
	result = processors_are_busy();
	ck_assert_int_eq(open_count, 0);
	return result;
}

START_TEST(more_ready_threads_than_processors_are_busy)
{
	ck_assert(are_busy("0.20 0.18 0.12 3/80 11206\n", 2));
	ck_assert(!are_busy("0.20 0.18 0.12 2/80 11206\n", 2));
	ck_assert(!are_busy("9.99 9.99 9.99 1/80 11206\n", 1));
	ck_assert(are_busy("150.00 0.18 0.12 300/4000 11206\n", 299));
	ck_assert(!are_busy("150.00 0.18 0.12 300/4000 11206\n", 300));
}
END_TEST

START_TEST(an_unknown_number_is_not_busy)
{
	ck_assert(!are_busy(NULL, 2));
	ck_assert(!are_busy("0.20 0.18 0.12 3/80 11206\n", 0));
	ck_assert(!are_busy("", 2));
	ck_assert(!are_busy("9", 2));
	ck_assert(!are_busy("/", 2));
	ck_assert(!are_busy("0.20 0.18 0.12 /80 11206\n", 2));
	ck_assert(!are_busy("0.20 0.18 0.12 x3/80 11206\n", 2));
	ck_assert(!are_busy("0.20 0.18 0.12 3", 2));
}
END_TEST

START_TEST(a_filter_is_not_provoked)
{
	has_filter = true;
	ck_assert(!are_busy("0.20 0.18 0.12 3/80 11206\n", 2));
	has_filter = false;
}
END_TEST

/* Only the beginning of a line of this length is read. */
START_TEST(a_long_line_is_cut)
{
	char text[4096];

	memset(text, ' ', sizeof(text));
	memcpy(text, "0.20 0.18 0.12 3/80 ", 20);
	text[sizeof(text) - 1] = '\0';
	ck_assert(are_busy(text, 2));
	memset(text, '3', sizeof(text) - 1);
	ck_assert(!are_busy(text, 2));
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("processors");
	TCase *const tc = tcase_create("processors");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, more_ready_threads_than_processors_are_busy);
	tcase_add_test(tc, an_unknown_number_is_not_busy);
	tcase_add_test(tc, a_filter_is_not_provoked);
	tcase_add_test(tc, a_long_line_is_cut);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
