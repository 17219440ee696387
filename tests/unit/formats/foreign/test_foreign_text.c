/* SPDX-License-Identifier: MIT */
/*
 * test_foreign_text.c - reading text traces of other systems
 *
 * Each kind of line becomes its records.  A malformed line is reported with
 * line, offset and field, after the records before it.  A trace that is cut at
 * any byte yields the records of its complete lines and is reported as
 * truncated.
 */
#include "tests/unit/support/foreign_text.h"

/* --------------------------------------------------------- meaning of lines */

START_TEST(hummingbird_has_two_kinds_of_line)
{
	check_records(hummingbird, 0, "hummingbird",
		      "alloc 24 0 55d0c0 0 0 0\n"
		      "alloc 0 0 55d0e0 0 0 0\n"
		      "free 0 0 55d0c0 0 0 0\n"
		      "alloc 100 0 55d0c0 0 0 0\n"
		      "free 0 0 1 0 0 0\n");
}
END_TEST

START_TEST(hummingbird_is_read_with_leniency)
{
	check_records("# a comment\r\n\n  ALLOCATE\t17   0x18 \r\n"
		      "free 17\nallocate 0x11 2\nAllocate 007 1\nFree 007\n"
		      "Allocate b0b 3\nFree b0b\n",
		      0, "hummingbird",
		      "alloc 24 0 11 0 0 0\n"
		      "free 0 0 11 0 0 0\n"
		      "alloc 2 0 11 0 0 0\n"
		      "alloc 1 0 ce7eef181d60f22e 0 0 0\n"
		      "free 0 0 ce7eef181d60f22e 0 0 0\n"
		      "alloc 3 0 ff99261912b102d7 0 0 0\n"
		      "free 0 0 ff99261912b102d7 0 0 0\n");
}
END_TEST

START_TEST(hummingbird_tags_are_numbered)
{
	check_records(hummingbird, HATF_READER_SEQUENCE_TAGS, "hummingbird",
		      "alloc 24 0 1 0 0 0\n"
		      "alloc 0 0 2 0 0 0\n"
		      "free 0 0 1 0 0 0\n"
		      "alloc 100 0 3 0 0 0\n"
		      "free 0 0 4 0 0 0\n");
}
END_TEST

START_TEST(mtrace_has_these_kinds_of_line)
{
	check_records(mtrace, 0, "mtrace",
		      "alloc 10 0 37922a0 0 0 1\n"
		      "reallocAllocFree 40 37922a0 3792510 0 0 2\n"
		      "alloc 40 0 3792510 0 0 0\n"
		      "free 0 0 37922a0 0 0 0\n"
		      "reallocNoAlloc 48 3792510 3792510 0 0 3\n"
		      "reallocNoAlloc 9223372036854775807 3792510 0 0 0 4\n"
		      "free 0 0 3792510 0 0 5\n"
		      "alloc 9223372036854775807 0 0 0 0 0\n"
		      "alloc 0 0 10 0 0 6\n"
		      "free 0 0 10 0 0 7\n"
		      "alloc 1 0 10 0 0 8\n"
		      "free 0 0 10 0 0 9\n"
		      "free 0 0 10 0 0 10\n");
}
END_TEST

/* Each stack of the trace has one frame. */
static void
check_frames(const char *text, const struct hatf_frame *want, size_t count)
{
	struct hatf_stacks *stacks;
	struct hatf_error err;
	struct hatf_reader *const reader =
		open_text(text, strlen(text), 0, &err);
	struct hatf_record r[8];
	size_t n;

	ck_assert_ptr_nonnull(reader);
	ck_assert_int_eq(hatf_stacks_open(&stacks), HATF_OK);
	while (hatf_reader_read(reader, r, 8, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			ck_assert_int_eq(hatf_stacks_note(stacks, &r[i], NULL),
					 HATF_OK);
	for (size_t i = 0; i < count; i++) {
		struct hatf_stack stack;
		struct hatf_frame frame;

		ck_assert(hatf_stacks_get(stacks, i + 1, &stack));
		ck_assert_uint_eq(stack.parent, 0);
		ck_assert(hatf_stacks_get_frame(stacks, stack.frame, &frame));
		ck_assert_pstr_eq(frame.object, want[i].object);
		ck_assert_pstr_eq(frame.function, want[i].function);
		ck_assert_pstr_eq(frame.file, want[i].file);
		ck_assert_uint_eq(frame.line, want[i].line);
		ck_assert_uint_eq(frame.address, want[i].address);
	}
	ck_assert_uint_eq(hatf_stacks_count(stacks), count);
	hatf_stacks_close(stacks);
	hatf_reader_close(reader);
}

START_TEST(mtrace_callers_are_frames)
{
	static const struct hatf_frame want[] = {
		{ .object = "./a b", .function = "main", .address = 0x123f },
		{ .object = "./a b", .address = 0x1275 },
		{ .object = "./a b", .function = "f(int)", .address = 0x1277 },
		{ .object = "./a b", .address = 0x1277 },
		{ .address = 0x99 },
		{ .file = "a.c", .line = 12 },
		{ .function = "f@@V1" },
		{ .object = "b", .function = "operator+", .address = 1 },
		{ .object = "b", .function = "a", .address = 2 },
		{ .object = "a(b)", .address = 3 },
	};

	check_frames(mtrace, want, sizeof(want) / sizeof(want[0]));
}
END_TEST

START_TEST(mtrace_names_that_look_like_more_are_read)
{
	static const struct {
		const char *caller;
		struct hatf_frame frame;
	} cases[] = {
		{ "o:(a+b+0)[0x1]",
		  { .object = "o", .function = "a+b", .address = 1 } },
		{ "(f[0x5])", { .function = "f[0x5]" } },
		{ "(foo:12)", { .function = "foo:12" } },
		{ "((a))", { .function = "(a)" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[100];

		snprintf(text, sizeof(text), "= Start\n@ %s - 0x1\n",
			 cases[i].caller);
		check_frames(text, &cases[i].frame, 1);
	}
}
END_TEST

START_TEST(android_has_these_kinds_of_line)
{
	check_records(android, 0, "android",
		      "alloc 20 0 b6038060 186 11 0\n"
		      "alloc 128 0 b609f080 186 13 0\n"
		      "alloc 32 0 ae9d0000 187 15 0\n"
		      "reallocAllocFree 192 b609f080 b609f0c0 186 17 0\n"
		      "alloc 192 0 b609f0c0 186 17 0\n"
		      "free 0 0 b609f080 186 17 0\n"
		      "reallocNoAlloc 8 b609f0c0 b609f0c0 186 19 0\n"
		      "reallocNoAlloc 999 b609f0c0 0 186 21 0\n"
		      "reallocFree 0 b609f0c0 0 186 23 0\n"
		      "free 0 0 b609f0c0 186 23 0\n"
		      "reallocAlloc 5 0 b609f100 186 25 0\n"
		      "alloc 5 0 b609f100 186 25 0\n"
		      "free 0 0 ae9d0000 187 27 0\n"
		      "destroyThread 0 0 0 187 28 0\n"
		      "alloc 1 0 0 186 31 0\n");
}
END_TEST

START_TEST(android_may_lack_times_and_have_more)
{
	check_records("1: malloc 0x10 20\n1: free 0x10\n\n2: thread_done 0x0\n",
		      0, "android",
		      "alloc 20 0 10 1 0 0\n"
		      "free 0 0 10 1 0 0\n"
		      "destroyThread 0 0 0 2 0 0\n");
	check_records("1: free 0x10 5 6 4096\n", 0, "android",
		      "free 0 0 10 1 6 0\n");
}
END_TEST

/* HATF attributes for the function that allocated a block. */
START_TEST(android_keeps_the_kind_of_call)
{
	static const char text[] = "1: calloc 0x10 3 5\n1: memalign 0x20 64 7\n"
				   "1: calloc 0x0 0xffffffffffffffff 5\n";
	struct hatf_error err;
	struct hatf_reader *const reader =
		open_text(text, sizeof(text) - 1, 0, &err);
	struct hatf_record r[4];
	size_t n, count = 0;

	ck_assert_ptr_nonnull(reader);
	while (hatf_reader_read(reader, r, 4, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++, count++) {
			const uint8_t *const a = r[i].attributes;

			ck_assert_uint_ge(r[i].attributes_nbytes, 1);
			ck_assert_uint_eq(a[0], count == 1 ? HATF_ATTR_ALIGNMENT
							   : HATF_ATTR_ZEROED);
			if (count == 1)
				ck_assert_uint_eq(a[1], 64);
			if (count == 2)
				ck_assert_uint_eq(r[i].size, UINT64_MAX);
		}
	ck_assert_uint_eq(count, 3);
	hatf_reader_close(reader);
}
END_TEST

/* ---------------------------------------------------------------- mistakes */

START_TEST(malformed_lines_are_reported)
{
	static const struct {
		const char *good, *bad, *field;
	} cases[] = {
		{ "Free 1\n", "Fre 2\n", "operation" },
		{ "Free 1\n", "Free\n", "tag" },
		{ "Free 1\n", "Free 2 3\n", "line" },
		{ "Free 1\n", "Allocate 2\n", "size" },
		{ "Free 1\n", "Allocate 2 x\n", "size" },
		{ "Free 1\n", "Allocate 2 18446744073709551616\n", "size" },
		{ "Free 1\n", "Allocate 2 3 4\n", "line" },
		{ "= Start\n+ 0x1 0x2\n", "# 0x1 0x2\n", "operation" },
		{ "= Start\n+ 0x1 0x2\n", "\n", "operation" },
		{ "= Start\n+ 0x1 0x2\n", "+ 0x1\n", "operation" },
		{ "= Start\n+ 0x1 0x2\n", "+ 1 0x2\n", "address" },
		{ "= Start\n+ 0x1 0x2\n", "+ 0x 0x2\n", "address" },
		{ "= Start\n+ 0x1 0x2\n", "+ 0x1 0x2g\n", "size" },
		{ "= Start\n+ 0x1 0x2\n", "- 0x11111111111111111\n",
		  "address" },
		{ "= Start\n+ 0x1 0x2\n", "> 0x1 0x2\n", "operation" },
		{ "= Start\n+ 0x1 0x2\n", "a:[0x1] + 0x1 0x2\n", "caller" },
		{ "= Start\n< 0x1\n> 0x2 0x3\n< 0x2\n", "- 0x2\n",
		  "operation" },
		{ "= Start\n< 0x1\n> 0x2 0x3\n< 0x2\n", "= End\n",
		  "operation" },
		{ "1: free 0x1\n", "x: free 0x1\n", "thread" },
		{ "1: free 0x1\n", "1 free 0x1\n", "thread" },
		{ "1: free 0x1\n", "1: fre 0x1\n", "operation" },
		{ "1: free 0x1\n", "1: free\n", "address" },
		{ "1: free 0x1\n", "1: free 0x1 5\n", "time" },
		{ "1: free 0x1\n", "1: free 0x1 5 6 x\n", "time" },
		{ "1: free 0x1\n", "1: malloc 0x1\n", "size" },
		{ "1: free 0x1\n", "1: malloc 0x1 2x\n", "size" },
		{ "1: free 0x1\n", "1: calloc 0x1 2\n", "size" },
		{ "1: free 0x1\n", "1: calloc 0x1 x 2\n", "count" },
		{ "1: free 0x1\n", "1: calloc 0x1 0xffffffffffffffff 2\n",
		  "size" },
		{ "1: free 0x1\n", "1: memalign 0x1 x 2\n", "alignment" },
		{ "1: free 0x1\n", "1: realloc 0x1 x 2\n", "old_address" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t good = strlen(cases[i].good);
		char text[200], got[1000];
		struct hatf_error err;
		struct hatf_reader *reader;
		uint64_t lines = 0;

		for (const char *p = cases[i].good; *p != '\0'; p++)
			lines += *p == '\n';
		snprintf(text, sizeof(text), "%s%s%s", cases[i].good,
			 cases[i].bad, cases[i].good);
		reader = open_text(text, strlen(text), 0, &err);
		ck_assert_ptr_nonnull(reader);
		ck_assert_int_eq(print_records(reader, 64, got, sizeof(got)),
				 HATF_BAD_FIELD);
		ck_assert_msg(got[0] != '\0', "%s", cases[i].bad);
		err = *hatf_reader_error(reader);
		ck_assert_msg(err.field != NULL &&
				      strcmp(err.field, cases[i].field) == 0,
			      "%s: %s, not %s", cases[i].bad, err.field,
			      cases[i].field);
		ck_assert_uint_eq(err.line, lines + 1);
		ck_assert_uint_eq(err.offset, good);
		hatf_reader_close(reader);
	}
}
END_TEST

/* Return whether 'offset' follows a line that the next line must complete. */
static bool
is_within_item(const char *text, size_t offset)
{
	size_t start = offset - 1;

	while (start > 0 && text[start - 1] != '\n')
		start--;
	return memchr(text + start, '<', offset - start) != NULL;
}

START_TEST(cuts_are_reported)
{
	const char *const text = traces[_i].text;
	char whole[4096], got[4096];
	struct hatf_error err;
	struct hatf_reader *reader = open_text(text, strlen(text), 0, &err);

	print_records(reader, 64, whole, sizeof(whole));
	hatf_reader_close(reader);
	for (size_t cut = 1; cut < strlen(text); cut++) {
		const bool is_whole =
			text[cut - 1] == '\n' && !is_within_item(text, cut);
		enum hatf_status status;
		size_t line = cut;

		while (line > 0 && text[line - 1] != '\n')
			line--;
		reader = open_text(text, cut, 0, &err);
		if (reader == NULL) {
			ck_assert_int_eq(err.status, HATF_NOT_HATF);
			ck_assert_uint_eq(line, 0);
			continue;
		}
		status = print_records(reader, 3, got, sizeof(got));
		ck_assert_int_eq(status, is_whole ? HATF_END : HATF_TRUNCATED);
		ck_assert_mem_eq(got, whole, strlen(got));
		if (!is_whole)
			ck_assert_uint_eq(hatf_reader_error(reader)->offset,
					  line);
		hatf_reader_close(reader);
	}
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("foreign_text");
	TCase *const tc = tcase_create("foreign_text");

	tcase_add_test(tc, hummingbird_has_two_kinds_of_line);
	tcase_add_test(tc, hummingbird_is_read_with_leniency);
	tcase_add_test(tc, hummingbird_tags_are_numbered);
	tcase_add_test(tc, mtrace_has_these_kinds_of_line);
	tcase_add_test(tc, mtrace_callers_are_frames);
	tcase_add_test(tc, android_has_these_kinds_of_line);
	tcase_add_test(tc, android_may_lack_times_and_have_more);
	tcase_add_test(tc, android_keeps_the_kind_of_call);
	tcase_add_test(tc, malformed_lines_are_reported);
	tcase_add_loop_test(tc, cuts_are_reported, 0, TRACE_COUNT);
	tcase_add_test(tc, mtrace_names_that_look_like_more_are_read);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
