/* SPDX-License-Identifier: MIT */
/*
 * test_event_columns.c - callers get events with comments, and as columns
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

#define MAX	     64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(comments_come_in_their_place_with_their_text)
{
	struct hatf_event out[MAX];
	struct hand h = { 0 };
	struct hatf_reader *reader;
	struct hatf_events *events;
	size_t n;
	int fd;

	hand_alloc(&h, 1, 16);
	hand_comment(&h, "hello");
	hand_realloc(&h, 3, 2, 16, 32);
	hand_comment(&h, "between");
	hand_alloc(&h, 2, 32);
	hand_free(&h, 16);
	fd = hand_file(h.bytes, h.used);
	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, NULL), HATF_OK);
	ck_assert_int_eq(hatf_events_open(reader, &events), HATF_OK);
	ck_assert_int_eq(hatf_events_read(events, out, MAX, &n), HATF_OK);
	ck_assert_uint_eq(n, 4);
	ck_assert_int_eq(out[1].kind, HATF_EVENT_COMMENT);
	ck_assert_uint_eq(out[1].record, 1);
	ck_assert_uint_eq(out[1].offset, 9);
	ck_assert_mem_eq(out[1].attributes, "hello", 5);
	ck_assert_uint_eq(out[3].record, 3);
	ck_assert_uint_eq(out[3].attributes_nbytes, 7);
	ck_assert_int_eq(hatf_events_read(events, out, MAX, &n), HATF_END);
	ck_assert_int_eq(hatf_events_read(events, out, MAX, &n), HATF_END);
	ck_assert_uint_eq(n, 0);
	hatf_events_close(events);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

START_TEST(columns_have_the_fields_of_the_events)
{
	struct hand h = { 0 };
	uint8_t kind[4] = { 99, 99, 99, 99 }, flags[4];
	uint64_t address[4], size[4], old_size[4];
	struct hatf_event_columns columns = {
		.struct_nbytes = sizeof(columns),
		.kind = kind,
		.flags = flags,
		.address = address,
		.size = size,
		.old_size = old_size,
	};
	struct hatf_reader *reader;
	struct hatf_events *events;
	size_t n;
	int fd;

	hand_alloc(&h, 1, 16);
	hand_comment(&h, "no row");
	hand_alloc(&h, 2, 0);
	hand_free(&h, 16);
	fd = hand_file(h.bytes, h.used);
	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, NULL), HATF_OK);
	ck_assert_int_eq(hatf_events_open(reader, &events), HATF_OK);
	columns.reserved[1] = 1;
	ck_assert_int_eq(hatf_events_read_columns(events, &columns, 0, 3, &n),
			 HATF_BAD_OPTION);
	columns.reserved[1] = 0;
	/* From row 1 on; row 0 stays as it is. */
	ck_assert_int_eq(hatf_events_read_columns(events, &columns, 1, 3, &n),
			 HATF_OK);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(kind[0], 99);
	ck_assert_uint_eq(kind[1], HATF_EVENT_ALLOC);
	ck_assert_uint_eq(kind[2], HATF_EVENT_ALLOC);
	ck_assert_uint_eq(kind[3], HATF_EVENT_FREE);
	ck_assert_uint_eq(flags[1], 0);
	ck_assert_uint_eq(flags[2], HATF_COLUMN_FAILED);
	ck_assert_uint_eq(flags[3], 0);
	ck_assert_uint_eq(address[1], 16);
	ck_assert_uint_eq(size[2], 2);
	ck_assert_uint_eq(old_size[3], 1);
	ck_assert_int_eq(hatf_events_read_columns(events, &columns, 1, 3, &n),
			 HATF_END);
	ck_assert_uint_eq(n, 0);
	hatf_events_close(events);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		comments_come_in_their_place_with_their_text,
		columns_have_the_fields_of_the_events,
	};

	return hand_run("event columns", tests, COUNT(tests));
}
