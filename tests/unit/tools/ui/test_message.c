/* SPDX-License-Identifier: MIT */
/*
 * test_message.c - the texts of errors that say what the user can do
 *
 * A build with zstd and lz4 cannot show the text of a build without them.
 */
#include "tools/ui/message.h"

#include "tests/unit/support/checks.h"
#include <errno.h>
#include <stdlib.h>

START_TEST(missing_library)
{
	const struct hatf_error err = {
		.status = HATF_NO_LIBRARY,
		.field = "zstd",
	};
	char buf[512];

	ck_assert_str_eq(message_error_text(&err, buf, sizeof(buf)),
			 "this build of hatf lacks the library for zstd (to "
			 "read such a file: 'zstd -dc FILE | hatf COMMAND -')");
}
END_TEST

START_TEST(not_a_trace)
{
	const struct hatf_error err = {
		.status = HATF_NOT_HATF,
		.field = "noise",
	};
	char buf[512];

	ck_assert_str_eq(message_error_text(&err, buf, sizeof(buf)),
			 "not a format that hatf knows; see 'hatf "
			 "formats'");
}
END_TEST

START_TEST(directory)
{
	const struct hatf_error err = {
		.status = HATF_IO,
		.sys_errno = EISDIR,
	};
	char buf[512];

	ck_assert_str_eq(message_error_text(&err, buf, sizeof(buf)),
			 "Is a directory; name the traces in it, as in 'hatf "
			 "COMMAND DIR/*.hatf*'");
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("message");
	TCase *const tc = tcase_create("message");

	tcase_add_test(tc, missing_library);
	tcase_add_test(tc, not_a_trace);
	tcase_add_test(tc, directory);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
