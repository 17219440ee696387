/* SPDX-License-Identifier: MIT */
/*
 * test_foreign_text_sinks.c - writing text traces of other systems
 *
 * A sink reproduces a trace that was read.  Calls, names and heaps that a
 * format does not have are dropped or replaced.
 */
#include "tests/unit/support/foreign_text.h"

#include <sys/mman.h>

/* Read and write; return the text. */
static void
rewrite(const char *text, const struct hatf_writer_options *options, char *out,
	size_t cap)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	struct hatf_error err;
	struct hatf_reader *const reader =
		open_text(text, strlen(text), 0, &err);
	struct hatf_record r[7];
	struct hatf_writer *w;
	ssize_t nbytes;
	size_t n;

	ck_assert_ptr_nonnull(reader);
	ck_assert_int_eq(writer_of_fd(fd, options, &w, &err), HATF_OK);
	while (hatf_reader_read(reader, r, 7, &n) == HATF_OK)
		ck_assert_int_eq(hatf_writer_write(w, r, n), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, &err), HATF_OK);
	hatf_reader_close(reader);
	nbytes = pread(fd, out, cap - 1, 0);
	ck_assert_int_ge(nbytes, 0);
	out[nbytes] = '\0';
	close(fd);
}

static void
check_rewritten(const char *from, const struct hatf_writer_options *options,
		const char *want)
{
	char got[4096];

	rewrite(from, options, got, sizeof(got));
	ck_assert_str_eq(got, want);
}

START_TEST(hummingbird_is_written_as_it_was_read)
{
	check_rewritten(hummingbird,
			&(struct hatf_writer_options){ .format = "hummingbird",
						       .plain = true },
			hummingbird);
}
END_TEST

/* Programs that count from 0 have a block 0. */
START_TEST(hummingbird_keeps_the_tag_0)
{
	static const char text[] = "Allocate 0x0 10\nAllocate 0x1 20\n"
				   "Free 0x0\nAllocate 0x0 30\nFree 0x1\n";

	check_records("Allocate 0 10\nAllocate 1 20\nFree 0\n", 0,
		      "hummingbird",
		      "alloc 10 0 8000000000000000 0 0 0\n"
		      "alloc 20 0 1 0 0 0\n"
		      "free 0 0 8000000000000000 0 0 0\n");
	check_records(text, HATF_READER_SEQUENCE_TAGS, "hummingbird",
		      "alloc 10 0 1 0 0 0\n"
		      "alloc 20 0 2 0 0 0\n"
		      "free 0 0 1 0 0 0\n"
		      "alloc 30 0 3 0 0 0\n"
		      "free 0 0 2 0 0 0\n");
	check_rewritten(text,
			&(struct hatf_writer_options){ .format = "hummingbird",
						       .plain = true },
			text);
}
END_TEST

/* A block that is older than the trace has no number: its Free is dropped. */
START_TEST(hummingbird_numbers_tags)
{
	check_rewritten(hummingbird,
			&(struct hatf_writer_options){ .format = "hummingbird",
						       .plain = true,
						       .sequence_tags = true },
			"Allocate 1 24\nAllocate 2 0\nFree 1\n"
			"Allocate 3 100\n");
	check_rewritten(android,
			&(struct hatf_writer_options){ .format = "hummingbird",
						       .plain = true,
						       .sequence_tags = true },
			"Allocate 1 20\nAllocate 2 128\nAllocate 3 32\n"
			"Free 2\nAllocate 4 192\nFree 4\nAllocate 5 8\n"
			"Free 5\nAllocate 6 5\nFree 3\n");
}
END_TEST

START_TEST(mtrace_is_written_as_it_was_read)
{
	check_rewritten(mtrace,
			&(struct hatf_writer_options){ .format = "mtrace",
						       .plain = true },
			"= Start\n"
			"@ ./a_b:(main)[0x123f] + 0x37922a0 0xa\n"
			"@ ./a_b:[0x1275] < 0x37922a0\n"
			"@ ./a_b:[0x1275] > 0x3792510 0x28\n"
			"@ ./a_b:(f(int))[0x1277] < 0x3792510\n"
			"@ ./a_b:(f(int))[0x1277] > 0x3792510 0x30\n"
			"@ ./a_b:[0x1277] ! 0x3792510 0x7fffffffffffffff\n"
			"@ [0x99] - 0x3792510\n"
			"+ (nil) 0x7fffffffffffffff\n"
			"@ a.c:12 + 0x10 0\n"
			"@ f@@V1 - 0x10\n"
			"@ b:(operator+)[0x1] + 0x10 0x1\n"
			"@ b:(a)[0x2] - 0x10\n"
			"@ a(b):[0x3] - 0x10\n"
			"= End\n");
}
END_TEST

/* Part of a name may look like an offset, a line or an address. */
START_TEST(mtrace_names_survive_a_rewrite)
{
	static const char text[] = "= Start\n"
				   "@ o:(a+b+0)[0x1] + 0x10 0x1\n"
				   "@ (x-face+0)[0x2] + 0x20 0x1\n"
				   "@ (foo+0x10+0)[0x3] + 0x30 0x1\n"
				   "@ (+5+0)[0x3] + 0x40 0x1\n"
				   "@ o:(operator+)[0x4] + 0x50 0x1\n"
				   "@ (f[0x5]) + 0x60 0x1\n"
				   "@ (foo:12) + 0x70 0x1\n"
				   "@ ((a)) + 0x80 0x1\n"
				   "@ a::b + 0x90 0x1\n"
				   "@ a.c:12 + 0xa0 0x1\n"
				   "= End\n";

	check_rewritten(text,
			&(struct hatf_writer_options){ .format = "mtrace",
						       .plain = true },
			text);
}
END_TEST

/* An incomplete trace has no "= End". */
START_TEST(mtrace_ends_with_a_complete_trace)
{
	check_rewritten(hummingbird,
			&(struct hatf_writer_options){ .format = "mtrace",
						       .plain = true,
						       .incomplete = true },
			"= Start\n"
			"+ 0x55d0c0 0x18\n"
			"+ 0x55d0e0 0\n"
			"- 0x55d0c0\n"
			"+ 0x55d0c0 0x64\n"
			"- 0x1\n");
}
END_TEST

/* Except failed calls. */
START_TEST(android_is_written_as_it_was_read)
{
	check_rewritten(android,
			&(struct hatf_writer_options){ .format = "android",
						       .plain = true,
						       .header = "unit=us\n" },
			"186: malloc 0xb6038060 20 11000 11000\n"
			"186: calloc 0xb609f080 1 128 13000 13000\n"
			"187: memalign 0xae9d0000 4096 32 15000 15000\n"
			"186: realloc 0xb609f0c0 0xb609f080 192 17000 17000\n"
			"186: realloc 0xb609f0c0 0xb609f0c0 8 19000 19000\n"
			"186: realloc 0x0 0xb609f0c0 0 23000 23000\n"
			"186: realloc 0xb609f100 0x0 5 25000 25000\n"
			"187: free 0xae9d0000 27000 27000\n"
			"187: thread_done 0x0 28000\n");
}
END_TEST

/* memory_replay aborts at a block that it has not allocated. */
START_TEST(android_frees_only_known_blocks)
{
	check_rewritten("1: free 0x10\n1: realloc 0x20 0x30 5\n"
			"1: malloc 0x10 7\n1: realloc 0x0 0x40 0\n"
			"1: free 0x10\n1: free 0x20\n1: free 0x10\n",
			&(struct hatf_writer_options){ .format = "android",
						       .plain = true },
			"1: realloc 0x20 0x0 5\n1: malloc 0x10 7\n"
			"1: free 0x10\n1: free 0x20\n");
}
END_TEST

/* Android has no thread 0, and 32 bits for the others. */
START_TEST(android_threads_have_numbers_of_the_kernel)
{
	static const char text[] = "0: malloc 0x1 1\n1: malloc 0x2 1\n"
				   "139637976727232: malloc 0x3 1\n"
				   "139637976727233: malloc 0x4 1\n"
				   "139637976727232: free 0x4\n";

	check_rewritten(text,
			&(struct hatf_writer_options){ .format = "android",
						       .plain = true,
						       .header = "pid=77\n" },
			"77: malloc 0x1 1\n1: malloc 0x2 1\n"
			"1073741824: malloc 0x3 1\n"
			"1073741825: malloc 0x4 1\n"
			"1073741824: free 0x4\n");
	check_rewritten("0: malloc 0x1 1\n",
			&(struct hatf_writer_options){ .format = "android",
						       .plain = true },
			"1073741823: malloc 0x1 1\n");
}
END_TEST

/* ------------------------------------------- heaps in formats without heaps */

static void
write_records(const char *format, const struct hatf_record *records, size_t n,
	      const char *want)
{
	const struct hatf_writer_options options = { .format = format,
						     .plain = true };
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	struct hatf_writer *w;
	char got[4096];
	ssize_t nbytes;

	ck_assert_int_eq(writer_of_fd(fd, &options, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, records, n), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	nbytes = pread(fd, got, sizeof(got) - 1, 0);
	ck_assert_int_gt(nbytes, 0);
	got[nbytes] = '\0';
	ck_assert_str_eq(got, want);
	close(fd);
}

START_TEST(destroying_a_heap_frees_its_blocks)
{
	static const struct hatf_record r[] = {
		{ .tag = HATF_CREATE_HEAP, .heap = 3 },
		{ .tag = HATF_ALLOC, .address = 0x10, .size = 1, .heap = 3 },
		{ .tag = HATF_ALLOC, .address = 0x20, .size = 2 },
		{ .tag = HATF_DESTROY_HEAP, .heap = 3 },
	};

	write_records("hummingbird", r, 4,
		      "Allocate 0x10 1\nAllocate 0x20 2\nFree 0x10\n");
}
END_TEST

/* The first block of a heap may be at the address of the heap itself. */
START_TEST(a_block_within_another_is_left_out)
{
	static const struct hatf_record r[] = {
		{ .tag = HATF_ALLOC, .address = 0x10, .size = 64 },
		{ .tag = HATF_ALLOC, .address = 0x10, .size = 1, .heap = 3 },
		{ .tag = HATF_ALLOC, .address = 0x18, .size = 2, .heap = 3 },
		{ .tag = HATF_REALLOC_NO_ALLOC,
		  .address = 0x10,
		  .old_address = 0x10,
		  .size = 3,
		  .heap = 3 },
		{ .tag = HATF_FREE, .address = 0x10, .heap = 3 },
		{ .tag = HATF_FREE, .address = 0x18, .heap = 3 },
		{ .tag = HATF_FREE, .address = 0x10 },
	};

	write_records("mtrace", r, 7,
		      "= Start\n+ 0x10 0x40\n+ 0x18 0x2\n- 0x18\n- 0x10\n"
		      "= End\n");
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("foreign_text_sinks");
	TCase *const tc = tcase_create("foreign_text_sinks");

	tcase_add_test(tc, hummingbird_is_written_as_it_was_read);
	tcase_add_test(tc, hummingbird_keeps_the_tag_0);
	tcase_add_test(tc, hummingbird_numbers_tags);
	tcase_add_test(tc, mtrace_is_written_as_it_was_read);
	tcase_add_test(tc, mtrace_names_survive_a_rewrite);
	tcase_add_test(tc, mtrace_ends_with_a_complete_trace);
	tcase_add_test(tc, android_is_written_as_it_was_read);
	tcase_add_test(tc, android_frees_only_known_blocks);
	tcase_add_test(tc, android_threads_have_numbers_of_the_kernel);
	tcase_add_test(tc, destroying_a_heap_frees_its_blocks);
	tcase_add_test(tc, a_block_within_another_is_left_out);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
