/* SPDX-License-Identifier: MIT */
/*
 * test_encoding_measure.c - encoding_measure() sets a length or fails
 *
 * This program replaces fstat(), and can make the last call on the output file
 * fail.
 */
#include "tools/measure/encoding.h"

#include "tests/unit/support/mini.h"
#include "tests/unit/support/streams.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The output file, the calls for it, and the call that fails; 0: none. */
static int output_fd = -1;
static unsigned call_count, failing_call;

int
fstat(int fd, struct stat *st)
{
	if (fd == output_fd && ++call_count == failing_call) {
		errno = EOVERFLOW;
		return -1;
	}
	return (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

static void
write_trace(int fd)
{
	const struct hatf_record rec = { .tag = HATF_ALLOC,
					 .size = 8,
					 .address = 4096 };
	const struct hatf_writer_options options = { .bare = true };
	struct hatf_writer *w;
	struct hatf_error err;

	ck_assert_int_eq(writer_of_fd(fd, &options, &w, &err), HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, &rec, 1), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, &err), HATF_OK);
}

static enum hatf_status
measure(uint64_t *nbytes_ret, struct hatf_error *err)
{
	struct spool trace = { .path = "trace", .fd = spool_memory() };
	enum hatf_status status;

	write_trace(trace.fd);
	output_fd = spool_memory();
	call_count = 0;
	status = encoding_measure(&trace, ENCODING_ASCII, 0, output_fd,
				  nbytes_ret, err);
	close(output_fd);
	close(trace.fd);
	output_fd = -1;
	return status;
}

START_TEST(a_failed_fstat_is_an_error)
{
	uint64_t nbytes = 0;
	struct hatf_error err;

	ck_assert_int_eq(measure(&nbytes, &err), HATF_OK);
	ck_assert_uint_gt(nbytes, 0);
	ck_assert_uint_gt(call_count, 0);

	failing_call = call_count;
	ck_assert_int_eq(measure(&nbytes, &err), HATF_IO);
	ck_assert_int_eq(err.status, HATF_IO);
	ck_assert_int_eq(err.sys_errno, EOVERFLOW);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("encoding_measure");
	TCase *const tc = tcase_create("encoding_measure");

	tcase_add_test(tc, a_failed_fstat_is_an_error);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
