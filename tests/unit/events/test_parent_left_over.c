/* SPDX-License-Identifier: MIT */
/*
 * test_parent_left_over.c - a parent's trace forks within a realloc's records
 *
 * A realloc of tag 4 keeps its old block if the announced alloc follows.  In a
 * parent's trace, the fork of the child may stand between the two.  The old
 * block must then not be put into the heap that the child has inherited.
 */
#include "hatf/hatf.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEAP	     5

static char parent_path[256], child_path[256];

static void
write_trace(const char *path, const char *header,
	    const struct hatf_record *records, size_t n)
{
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.header = header,
	};
	struct hatf_writer *writer;

	ck_assert_int_eq(hatf_writer_open(path, &options, &writer, NULL),
			 HATF_OK);
	ck_assert_int_eq(hatf_writer_write(writer, records, n), HATF_OK);
	ck_assert_int_eq(hatf_writer_close(writer, NULL), HATF_OK);
}

static struct hatf_record
alloc_in_heap(uint64_t address)
{
	return (struct hatf_record){ .tag = HATF_ALLOC,
				     .heap = HEAP,
				     .address = address,
				     .size = 32,
				     .time = 1 };
}

static struct hatf_record
comment(const char *text, size_t nbytes)
{
	return (struct hatf_record){ .tag = HATF_COMMENT,
				     .attributes = (const uint8_t *)text,
				     .attributes_nbytes = (uint32_t)nbytes };
}

static void
make_traces(void)
{
	static const char fork[] = "HATF fork\nfork=1\n";
	static const char forked[] = "HATF fork\nfork=1\nforked=1\n";
	const char *const folder = getenv("TMPDIR");
	const struct hatf_record parent[] = {
		{ .tag = HATF_CREATE_HEAP, .heap = HEAP, .time = 1 },
		alloc_in_heap(0x1000),
		alloc_in_heap(0x1040),
		{ .tag = HATF_REALLOC_ALLOC,
		  .heap = HEAP,
		  .old_address = 0x1000,
		  .address = 0x2000,
		  .size = 32,
		  .time = 1 },
		comment(fork, sizeof(fork) - 1),
		alloc_in_heap(0x2000), /* the realloc has announced it */
		comment(forked, sizeof(forked) - 1),
	};
	const struct hatf_record child[] = {
		{ .tag = HATF_ALLOC, .address = 0x9000, .size = 8, .time = 1 },
	};

	snprintf(parent_path, sizeof(parent_path), "%s/parent.%d.hatf",
		 folder != NULL ? folder : "/tmp", (int)getpid());
	snprintf(child_path, sizeof(child_path), "%s/child.%d.hatf",
		 folder != NULL ? folder : "/tmp", (int)getpid());
	write_trace(parent_path,
		    "producer=hatftrace 0.1.0\npid=100\nlive=exact\n", parent,
		    COUNT(parent));

	char header[512];

	snprintf(header, sizeof(header),
		 "producer=hatftrace 0.1.0\npid=101\nparent_pid=100\n"
		 "parent_trace=%s\nparent_event=3\nparent_event_exact=1\n"
		 "parent_fork=1\nlive=exact\n",
		 parent_path);
	write_trace(child_path, header, child, COUNT(child));
}

/* Read the child's trace, and return its statistics at the end. */
static struct hatf_events_stats
read_child(bool numbers_blocks)
{
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_events *events;
	struct hatf_reader *reader;
	struct hatf_event batch[16];
	enum hatf_heritage heritage;
	size_t n;

	ck_assert_int_eq(hatf_reader_open(child_path, NULL, &reader, NULL),
			 HATF_OK);
	ck_assert_int_eq(hatf_events_open(reader, &events), HATF_OK);
	if (numbers_blocks)
		ck_assert_int_eq(hatf_events_number_blocks(events), HATF_OK);
	ck_assert_int_eq(hatf_events_inherit(events, child_path, &heritage),
			 HATF_OK);
	ck_assert_int_eq(heritage, HATF_HERITAGE_EXACT);
	while (hatf_events_read(events, batch, COUNT(batch), &n) == HATF_OK)
		;
	hatf_events_get_stats(events, &stats);
	hatf_events_close(events);
	hatf_reader_close(reader);
	return stats;
}

START_TEST(child_inherits_what_was_live)
{
	make_traces();
	for (int numbers = 0; numbers < 2; numbers++) {
		const struct hatf_events_stats stats = read_child(numbers != 0);

		/* 0x1040, 0x2000 and the child's own block */
		ck_assert_uint_eq(stats.live_count, 3);
		ck_assert_uint_eq(stats.live_nbytes, 72);
	}
	unlink(parent_path);
	unlink(child_path);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("parent_left_over");
	TCase *const cases = tcase_create("parent_left_over");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_test(cases, child_inherits_what_was_live);
	suite_add_tcase(suite, cases);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
