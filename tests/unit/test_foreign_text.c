/* SPDX-License-Identifier: MIT */
/*
 * test_foreign_text.c - lines of foreign text traces become the right records
 *
 * Text traces of other systems: what each kind of line is, to the record; each
 * malformed line is reported with its line, offset and the field at fault, after the
 * records before it; a trace that is cut off at any byte yields the records of its
 * whole lines, and is cut off; what is written again is the same text.
 */
#include "hatf/hatf.h"
#include "support/hand.h"
#include "support/streams.h"

#include <sys/mman.h>

static const char hummingbird[] = "Allocate 0x55d0c0 24\n"
				  "Allocate 0x55d0e0 0\n"
				  "Free 0x55d0c0\n"
				  "Allocate 0x55d0c0 100\n"
				  "Free 0x1\n";

static const char mtrace[] =
	"= Start\n"
	"@ ./a b:(main+1a)[0x123f] + 0x37922a0 0xa\n"
	"@ ./a b:[0x1275] < 0x37922a0\n"
	"@ ./a b:[0x1275] > 0x3792510 0x28\n"
	"@ ./a b:(f(int)-0x3)[0x1277] < 0x3792510\n"
	"@ ./a b:(f(int)-0x3)[0x1277] > 0x3792510 0x30\n"
	"@ ./a b:(+0x3)[0x1277] ! 0x3792510 0x7fffffffffffffff\n"
	"@ [0x99] - 0x3792510\n"
	"+ (nil) 0x7fffffffffffffff\n"
	"@ a.c:12 + 0x10 0\n"
	"@ f@@V1 - 0x10\n"
	"@ b:(operator+)[0x1] + 0x10 0x1\n"
	"@ b:(a-b)[0x2] - 0x10\n"
	"@ a(b)[0x3] - 0x10\n"
	"= End\n";

static const char android[] = "186: malloc 0xb6038060 20 10 11\n"
			      "186: calloc 0xb609f080 32 4 12 13\n"
			      "187: memalign 0xae9d0000 4096 32 14 15\n"
			      "186: realloc 0xb609f0c0 0xb609f080 192 16 17\n"
			      "186: realloc 0xb609f0c0 0xb609f0c0 8 18 19\n"
			      "186: realloc 0x0 0xb609f0c0 999 20 21\n"
			      "186: realloc 0x0 0xb609f0c0 0 22 23\n"
			      "186: realloc 0xb609f100 0x0 5 24 25\n"
			      "187: free 0xae9d0000 26 27\n"
			      "187: thread_done 0x0 28\n"
			      "186: malloc 0x0 1 30 31\n";

/* A trace of each, and of its lines those that make no record. */
static const struct {
	const char *name, *text;
} traces[] = {
	{ "hummingbird", hummingbird },
	{ "mtrace", mtrace },
	{ "android", android },
};
#define TRACE_COUNT (sizeof(traces) / sizeof(traces[0]))

static struct hatf_reader *
open_text(const char *text, size_t nbytes, unsigned flags,
	  struct hatf_error *err)
{
	const int fd = hand_file((const uint8_t *)text, nbytes);
	struct hatf_reader *reader = NULL;

	reader_of_fd(fd, flags, &reader, err);
	return reader;
}

/* The records as text, a line each, comments left out; the final status. */
static enum hatf_status
print_records(struct hatf_reader *reader, size_t batch, char *out, size_t cap)
{
	struct hatf_record r[64];
	enum hatf_status status;
	size_t n, used = 0;

	out[0] = '\0';
	while ((status = hatf_reader_read(reader, r, batch, &n)) == HATF_OK)
		for (size_t i = 0; i < n; i++) {
			if (r[i].tag == HATF_COMMENT)
				continue;
			used += (size_t)snprintf(
				out + used, cap - used,
				"%s %llu %llx %llx %llu %llu %llu\n",
				hatf_tag_name(r[i].tag),
				(unsigned long long)r[i].size,
				(unsigned long long)r[i].old_address,
				(unsigned long long)r[i].address,
				(unsigned long long)r[i].thread,
				(unsigned long long)r[i].time,
				(unsigned long long)hatf_record_stack(&r[i]));
			ck_assert_uint_lt(used, cap);
		}
	return status;
}

static void
check_records(const char *text, unsigned flags, const char *format,
	      const char *want)
{
	for (size_t batch = 1; batch <= 64; batch += 9) {
		char got[4096];
		struct hatf_error err;
		struct hatf_reader *const reader =
			open_text(text, strlen(text), flags, &err);
		struct hatf_reader_stats stats = { .struct_nbytes =
							   sizeof(stats) };

		ck_assert_ptr_nonnull(reader);
		ck_assert_str_eq(hatf_reader_format(reader), format);
		ck_assert_int_eq(print_records(reader, batch, got, sizeof(got)),
				 HATF_END);
		ck_assert_str_eq(got, want);
		hatf_reader_get_stats(reader, &stats);
		ck_assert(stats.complete && stats.foreign && !stats.ours);
		hatf_reader_close(reader);
	}
}

/* --------------------------------------------------------- what lines mean */

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

/* The stacks of a trace are frames, one each. */
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

/* The call that made a block, as HATF's attributes. */
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

START_TEST(what_is_malformed_is_told)
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

/* Is 'offset' of the text behind a line that leaves something open? */
static bool
is_within_item(const char *text, size_t offset)
{
	size_t start = offset - 1;

	while (start > 0 && text[start - 1] != '\n')
		start--;
	return memchr(text + start, '<', offset - start) != NULL;
}

START_TEST(what_is_cut_off_is_told)
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

/* ----------------------------------------------------------------- writing */

/* Read and write; the text that comes of it. */
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

/* Whoever counts from 0 has a block 0. */
START_TEST(hummingbird_has_a_tag_0)
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

/* A block from before the trace has no number: its Free is left out. */
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

/* What looks like an offset, a line or an address may be part of a name. */
START_TEST(mtrace_names_come_back)
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

START_TEST(mtrace_names_are_what_they_are)
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

/* A trace that is not complete has no end. */
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

/* But for calls that failed. */
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

/* The replay ends with a block that it has not allocated. */
START_TEST(android_frees_what_it_has)
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

/* ------------------------------------------------------- heaps, where none are */

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

START_TEST(a_heap_that_goes_frees_what_it_has)
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

/* The first block of a pool may lie where the pool's own memory does. */
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
	tcase_add_test(tc, what_is_malformed_is_told);
	tcase_add_loop_test(tc, what_is_cut_off_is_told, 0, TRACE_COUNT);
	tcase_add_test(tc, hummingbird_is_written_as_it_was_read);
	tcase_add_test(tc, hummingbird_has_a_tag_0);
	tcase_add_test(tc, hummingbird_numbers_tags);
	tcase_add_test(tc, mtrace_is_written_as_it_was_read);
	tcase_add_test(tc, mtrace_names_come_back);
	tcase_add_test(tc, mtrace_names_are_what_they_are);
	tcase_add_test(tc, mtrace_ends_with_a_complete_trace);
	tcase_add_test(tc, android_is_written_as_it_was_read);
	tcase_add_test(tc, android_frees_what_it_has);
	tcase_add_test(tc, android_threads_have_numbers_of_the_kernel);
	tcase_add_test(tc, a_heap_that_goes_frees_what_it_has);
	tcase_add_test(tc, a_block_within_another_is_left_out);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
