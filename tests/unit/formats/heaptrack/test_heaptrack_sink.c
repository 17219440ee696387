/* SPDX-License-Identifier: MIT */
/*
 * test_heaptrack_sink.c - files of heaptrack, written
 *
 * Records become a file of heaptrack, to the byte: every call of the program is
 * written, whatever its arguments, and every definition is written once, before
 * the first line that refers to it.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

/* Write a comment record. */
#define COMMENT(text)                                                       \
	{                                                                   \
		.tag = HATF_COMMENT, .attributes = (const uint8_t *)(text), \
		.attributes_nbytes = sizeof(text) - 1                       \
	}

/* Make attributes with a stack. */
#define STACK(id)                                                 \
	.attributes = (const uint8_t[]){ HATF_ATTR_STACK, (id) }, \
	.attributes_nbytes = 2

#define HEAD "v 10400 3\nX a b\\x20c\nI 1000 0\n"

static void
check_written(const struct hatf_record *records, size_t n, bool incomplete,
	      const char *want)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	const struct hatf_writer_options options = {
		.format = "heaptrack",
		.plain = true,
		.incomplete = incomplete,
		.header = "command=a b\\x5cx20c\nunit=us\npage_size=4096\n",
	};
	struct hatf_writer *w;
	char text[8192] = "";

	ck_assert_int_eq(writer_of_fd(fd, &options, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, records, n), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_gt(pread(fd, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, want);
	close(fd);
}

#define CHECK_WRITTEN(records, want)                                          \
	check_written(records, sizeof(records) / sizeof((records)[0]), false, \
		      HEAD want)

START_TEST(blocks_are_counted_by_size)
{
	static const struct hatf_record records[] = {
		{ .tag = HATF_ALLOC, .size = 24, .address = 0x10 },
		{ .tag = HATF_ALLOC, .size = 0, .address = 0x20 },
		{ .tag = HATF_ALLOC, .size = 24, .address = 0x30, .thread = 1 },
		{ .tag = HATF_FREE, .address = 0x10, .time = 999 },
		{ .tag = HATF_FREE, .address = 0x20, .time = 20500 },
		{ .tag = HATF_ALLOC,
		  .size = UINT64_MAX,
		  .address = UINT64_MAX,
		  .time = 20999 },
	};

	CHECK_WRITTEN(records,
		      "s 8 thread 0\ni 0 0 1\nt 1 0\n"
		      "s e 17 to 32 bytes\ni 0 0 2\nt 2 1\na 18 2\n"
		      "+ 0\ns 7 0 bytes\ni 0 0 3\nt 3 1\na 0 3\n+ 1\n"
		      "s 8 thread 1\ni 0 0 4\nt 4 0\nt 2 4\na 18 5\n"
		      "+ 2\n- 0\nc 14\n- 1\n"
		      "s 31 9223372036854775809 to 18446744073709551615 bytes\n"
		      "i 0 0 5\nt 5 1\na ffffffffffffffff 6\n+ 3\n"
		      "# strings: 5\n# ips: 5\n");
}
END_TEST

/*
 * Realloc in place, moved with and without the records that it announces, of
 * NULL, and to 0 bytes.
 */
START_TEST(a_realloc_is_a_free_and_an_alloc)
{
	static const struct hatf_record records[] = {
		{ .tag = HATF_REALLOC_ALLOC, .size = 1, .address = 0x10 },
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x10 },
		{ .tag = HATF_REALLOC_NO_ALLOC,
		  .size = 2,
		  .old_address = 0x10,
		  .address = 0x10 },
		{ .tag = HATF_REALLOC_ALLOC_FREE,
		  .size = 3,
		  .old_address = 0x10,
		  .address = 0x20 },
		{ .tag = HATF_ALLOC, .size = 3, .address = 0x20 },
		{ .tag = HATF_FREE, .address = 0x10 },
		{ .tag = HATF_REALLOC_ALLOC_FREE,
		  .size = 4,
		  .old_address = 0x20,
		  .address = 0x30 },
		/* A failed call. */
		{ .tag = HATF_REALLOC_NO_ALLOC,
		  .size = 5,
		  .old_address = 0x30 },
		{ .tag = HATF_REALLOC_FREE, .old_address = 0x30 },
		{ .tag = HATF_FREE, .address = 0x30 },
	};

	CHECK_WRITTEN(records,
		      "s 8 thread 0\ni 0 0 1\nt 1 0\ns 6 1 byte\n"
		      "i 0 0 2\nt 2 1\na 1 2\n+ 0\n- 0\ns 7 2 bytes\n"
		      "i 0 0 3\nt 3 1\na 2 3\n+ 1\n- 1\n"
		      "s c 3 to 4 bytes\ni 0 0 4\nt 4 1\na 3 4\n+ 2\n"
		      "- 2\na 4 4\n+ 3\n- 3\n# strings: 4\n# ips: 4\n");
}
END_TEST

/*
 * A failed call makes no block, an unknown block cannot be freed, and a lost
 * block is freed.
 */
START_TEST(missing_frees_and_blocks_are_tolerated)
{
	static const struct hatf_record records[] = {
		{ .tag = HATF_ALLOC, .size = 24 },
		{ .tag = HATF_FREE, .address = 0x10 },
		{ .tag = HATF_REALLOC_NO_ALLOC,
		  .size = 1,
		  .old_address = 0x10,
		  .address = 0x10 },
		{ .tag = HATF_ALLOC, .size = 2, .address = 0x10 },
	};

	CHECK_WRITTEN(records, "s 8 thread 0\ni 0 0 1\nt 1 0\ns 6 1 byte\n"
			       "i 0 0 2\nt 2 1\na 1 2\n+ 0\n- 0\ns 7 2 bytes\n"
			       "i 0 0 3\nt 3 1\na 2 3\n+ 1\n# strings: 3\n"
			       "# ips: 3\n");
}
END_TEST

/* A block of a heap may be at the heap's address, and is freed with it. */
START_TEST(destroying_a_heap_frees_its_blocks)
{
	static const struct hatf_record records[] = {
		{ .tag = HATF_ALLOC, .size = 100, .address = 0x10 },
		{ .tag = HATF_CREATE_HEAP, .heap = 3 },
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x10, .heap = 3 },
		{ .tag = HATF_ALLOC, .size = 2, .address = 0x20, .heap = 3 },
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x30, .heap = 3 },
		{ .tag = HATF_DESTROY_HEAP, .heap = 3, .time = 1000 },
		{ .tag = HATF_FREE, .address = 0x10, .time = 2000 },
	};

	CHECK_WRITTEN(records, "s 8 thread 0\ni 0 0 1\nt 1 0\n"
			       "s f 65 to 128 bytes\ni 0 0 2\nt 2 1\na 64 2\n"
			       "+ 0\ns 6 1 byte\ni 0 0 3\nt 3 1\na 1 3\n+ 1\n"
			       "s 7 2 bytes\ni 0 0 4\nt 4 1\na 2 4\n+ 2\n+ 1\n"
			       "c 1\n- 1\n- 2\n- 1\nc 2\n- 0\n# strings: 4\n"
			       "# ips: 4\n");
}
END_TEST

static const struct hatf_record definitions[] = {
	COMMENT("HATF frame\nframe=1\nfunction=main\nfile=a.c\nline=10\n"
		"object=so\naddress=0x100\n"),
	COMMENT("HATF frame\nframe=2\nfunction=in\nfile=a.c\nline=5\n"
		"object=so\naddress=0x200\n"),
	COMMENT("HATF frame\nframe=3\nfunction=around\nfile=a.c\nline=6\n"
		"object=so\naddress=0x200\n"),
	COMMENT("HATF frame\nframe=4\nfunction=f\\x0ag\n"),
	COMMENT("HATF frame\nframe=5\naddress=0x300\n"),
	COMMENT("HATF stack\nstack=1\nframe=1\n"),
	COMMENT("HATF stack\nstack=2\nparent=1\nframe=3\n"),
	COMMENT("HATF stack\nstack=3\nparent=2\nframe=2\n"),
	COMMENT("HATF stack\nstack=4\nparent=1\nframe=1\n"),
	COMMENT("HATF stack\nstack=5\nparent=4\nframe=4\n"),
	COMMENT("HATF stack\nstack=6\nframe=5\n"),
	COMMENT("HATF mark\ntext=x\n"),
};
#define DEFINITION_COUNT (sizeof(definitions) / sizeof(definitions[0]))

static void
check_stacks(const struct hatf_record *records, size_t n, const char *want)
{
	struct hatf_record all[DEFINITION_COUNT + 8];

	ck_assert_uint_le(n, 8);
	memcpy(all, definitions, sizeof(definitions));
	memcpy(all + DEFINITION_COUNT, records, n * sizeof(*records));
	check_written(all, DEFINITION_COUNT + n, false, want);
}

/* Functions at one address are one 'i'; a recursion is several. */
START_TEST(stacks_are_written_when_a_block_has_them)
{
	const struct hatf_record records[] = {
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x10, STACK(3) },
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x20, STACK(3) },
		{ .tag = HATF_FREE, .address = 0x20, STACK(6) },
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x20, STACK(5) },
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x30, STACK(2) },
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x40, STACK(6) },
		/* An unknown frame. */
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x50, STACK(99) },
	};

	check_stacks(records, 7,
		     HEAD "s 4 main\ns 3 a.c\ns 2 so\ni ff 3 1 2 a\n"
			  "t 1 0\ns 2 in\ns 6 around\ni 1ff 3 4 2 5 5 2 6\n"
			  "t 2 1\na 1 2\n+ 0\n+ 0\n- 0\nt 1 1\ns 3 f?g\n"
			  "i 0 0 6\nt 3 3\na 1 4\n+ 1\ni 1ff 3 5 2 6\n"
			  "t 4 1\na 1 5\n+ 2\ni 2ff 0\nt 5 0\na 1 6\n+ 3\n"
			  "s 8 thread 0\ni 0 0 7\nt 6 0\ns 6 1 byte\n"
			  "i 0 0 8\nt 7 7\na 1 8\n+ 4\n# strings: 8\n"
			  "# ips: 7\n");
}
END_TEST

/* Each level of the recursion has two frames at one address. */
START_TEST(a_recursion_is_written_call_by_call)
{
	const struct hatf_record records[] = {
		COMMENT("HATF frame\nframe=1\nfunction=in\naddress=0x200\n"),
		COMMENT("HATF frame\nframe=2\nfunction=f\naddress=0x200\n"),
		COMMENT("HATF stack\nstack=1\nframe=2\n"),
		COMMENT("HATF stack\nstack=2\nparent=1\nframe=1\n"),
		COMMENT("HATF stack\nstack=3\nparent=2\nframe=2\n"),
		COMMENT("HATF stack\nstack=4\nparent=3\nframe=1\n"),
		COMMENT("HATF stack\nstack=5\nparent=4\nframe=2\n"),
		COMMENT("HATF stack\nstack=6\nparent=5\nframe=1\n"),
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x10, STACK(6) },
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x20, STACK(4) },
	};

	CHECK_WRITTEN(records, "s 2 in\ns 1 f\ni 1ff 0 1 0 0 2 0 0\n"
			       "t 1 0\nt 1 1\nt 1 2\na 1 3\n+ 0\n"
			       "a 1 2\n+ 1\n# strings: 2\n# ips: 1\n");
}
END_TEST

/* Different objects may have code at the same small address. */
START_TEST(frames_of_different_objects_are_not_one)
{
	const struct hatf_record records[] = {
		COMMENT("HATF frame\nframe=1\nfunction=m\naddress=0x9\n"
			"object=x\n"),
		COMMENT("HATF frame\nframe=2\nfunction=f\naddress=0x9\n"
			"object=y\n"),
		COMMENT("HATF frame\nframe=3\nfunction=g\naddress=0x9\n"),
		COMMENT("HATF frame\nframe=4\nfunction=h\naddress=0x9\n"),
		COMMENT("HATF stack\nstack=1\nframe=1\n"),
		COMMENT("HATF stack\nstack=2\nparent=1\nframe=2\n"),
		COMMENT("HATF stack\nstack=3\nparent=2\nframe=3\n"),
		COMMENT("HATF stack\nstack=4\nparent=3\nframe=4\n"),
		{ .tag = HATF_ALLOC, .size = 1, .address = 0x10, STACK(4) },
	};

	CHECK_WRITTEN(records, "s 1 m\ns 1 x\ni 8 2 1\nt 1 0\n"
			       "s 1 f\ns 1 y\ni 8 4 3\nt 2 1\n"
			       "s 1 h\ns 1 g\ni 8 0 5 0 0 6 0 0\nt 3 2\n"
			       "a 1 3\n+ 0\n# strings: 6\n# ips: 3\n");
}
END_TEST

static void
put_comment(struct hatf_writer *w, const char *text, int length)
{
	const struct hatf_record rec = {
		.tag = HATF_COMMENT,
		.attributes = (const uint8_t *)text,
		.attributes_nbytes = (uint32_t)length,
	};

	ck_assert_int_eq(hatf_writer_write(w, &rec, 1), HATF_OK);
}

/* Any number of frames at one address takes only a few lines. */
START_TEST(a_line_has_few_frames)
{
	enum {
		DEPTH = 4000
	};
	const struct hatf_writer_options options = {
		.format = "heaptrack",
		.plain = true,
	};
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	struct hatf_writer *w;
	struct hatf_record rec;
	uint8_t attributes[11];
	char text[80];

	ck_assert_int_eq(writer_of_fd(fd, &options, &w, NULL), HATF_OK);
	for (int i = 1; i <= DEPTH; i++) {
		const int n = snprintf(text, sizeof(text),
				       "HATF frame\nframe=%d\nfunction=f%d\n"
				       "address=0x1\n",
				       i, i);
		size_t used = 0;

		put_comment(w, text, n);
		put_comment(
			w, text,
			snprintf(text, sizeof(text),
				 "HATF stack\nstack=%d\nparent=%d\nframe=%d\n",
				 i, i - 1, i));
		hatf_attr_put(attributes, sizeof(attributes), &used,
			      &(struct hatf_attr_item){ .key = HATF_ATTR_STACK,
							.value = (uint64_t)i });
		rec = (struct hatf_record){
			.tag = HATF_ALLOC,
			.address = (uint64_t)i,
			.attributes = attributes,
			.attributes_nbytes = (uint32_t)used,
		};
		ck_assert_int_eq(hatf_writer_write(w, &rec, 1), HATF_OK);
	}
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_lt(lseek(fd, 0, SEEK_END), DEPTH * 1000);
	close(fd);
}
END_TEST

START_TEST(an_incomplete_file_has_no_end)
{
	static const struct hatf_record records[] = {
		{ .tag = HATF_ALLOC, .size = 24, .address = 0x10 },
	};

	check_written(records, 1, true,
		      HEAD "s 8 thread 0\ni 0 0 1\nt 1 0\n"
			   "s e 17 to 32 bytes\ni 0 0 2\nt 2 1\na 18 2\n"
			   "+ 0\n");
}
END_TEST

/* The sink does not recurse: a stack may have any depth. */
START_TEST(a_deep_stack_is_written)
{
	enum {
		DEPTH = 200000
	};
	const struct hatf_writer_options options = { .format = "heaptrack" };
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	struct hatf_record rec = COMMENT("HATF frame\nframe=1\nfunction=f\n");
	struct hatf_reader *reader;
	struct hatf_writer *w;
	uint8_t attributes[11];
	size_t used = 0, n;
	char text[64];

	ck_assert_int_eq(writer_of_fd(fd, &options, &w, NULL), HATF_OK);
	ck_assert_int_eq(hatf_writer_write(w, &rec, 1), HATF_OK);
	for (int i = 1; i <= DEPTH; i++)
		put_comment(
			w, text,
			snprintf(text, sizeof(text),
				 "HATF stack\nstack=%d\nparent=%d\nframe=1\n",
				 i, i - 1));
	hatf_attr_put(attributes, sizeof(attributes), &used,
		      &(struct hatf_attr_item){ .key = HATF_ATTR_STACK,
						.value = DEPTH });
	rec = (struct hatf_record){ .tag = HATF_ALLOC,
				    .address = 1,
				    .attributes = attributes,
				    .attributes_nbytes = (uint32_t)used };
	ck_assert_int_eq(hatf_writer_write(w, &rec, 1), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, NULL), HATF_OK);
	do
		ck_assert_int_eq(hatf_reader_read(reader, &rec, 1, &n),
				 HATF_OK);
	while (rec.tag == HATF_COMMENT);
	ck_assert_uint_eq(hatf_record_stack(&rec), DEPTH);
	ck_assert_int_eq(hatf_reader_read(reader, &rec, 1, &n), HATF_END);
	hatf_reader_close(reader);
	close(fd);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		blocks_are_counted_by_size,
		a_realloc_is_a_free_and_an_alloc,
		missing_frees_and_blocks_are_tolerated,
		destroying_a_heap_frees_its_blocks,
		stacks_are_written_when_a_block_has_them,
		a_recursion_is_written_call_by_call,
		frames_of_different_objects_are_not_one,
		a_line_has_few_frames,
		an_incomplete_file_has_no_end,
		a_deep_stack_is_written,
	};

	return hand_run("heaptrack_sink", tests,
			sizeof(tests) / sizeof(tests[0]));
}
