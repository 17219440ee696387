/* SPDX-License-Identifier: MIT */
/*
 * test_framing.c - false claims in a trace's comments are reported
 *
 * The reader rejects a trace of ours that contradicts the claims in its own
 * comments.  Only a trailer that is the last record makes a trace complete.
 * Comments of traces by other programs claim nothing.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/open.h"

#include <stdarg.h>

#define MAX	     64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HEADER "HATF 1.0\nproducer=test\ncommand=a\\x20b c\\x5c\nx=\nx=2\n"

/* Put a comment with a format and one number. */
__attribute__((format(printf, 2, 3))) static void
put_note(struct hand *h, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	hand_comment(h, text);
}

/* Claims to falsify, by adding one. */
struct wrong {
	int block, record, event, events, records, bytes, block_bytes,
		last_bytes;
};

/* The text of the trailer, without its last lines. */
#define TRAILER \
	"HATF " \
	"end\ncomplete=1\nend=exit\nevents=%d\nrecords=%d\nhatf_bytes=%d\n%s"

/*
 * Put a header, two blocks with one alloc each, and a trailer: 6 records, 2
 * events.  The second block ends with its alloc.
 */
static void
put_ours(struct hand *h, const struct wrong *w, const char *tail)
{
	hand_comment(h, HEADER);
	put_note(h,
		 "HATF block\nblock=0\nrecord=1\nevent=0\ntime=0\n"
		 "bytes=%010d\n",
		 /* from the first byte of the stream to the end of the alloc */
		 (int)h->used + 3 + 60 + 9 + w->block_bytes);
	hand_alloc(h, 1, 16);
	put_note(h,
		 "HATF block\nblock=%d\nrecord=%d\nevent=%d\ntime=0\n"
		 "bytes=%010d\n",
		 1 + w->block, 3 + w->record, 1 + w->event,
		 3 + 60 + 9 + w->last_bytes);
	hand_alloc(h, 1, 32);
	put_note(h, TRAILER, 2 + w->events, 5 + w->records,
		 (int)h->used + w->bytes, tail);
}

static const struct wrong nothing;

START_TEST(our_traces_are_complete_if_they_say_so_and_it_is_true)
{
	static const struct {
		const char *tail;
		bool complete;
	} cases[] = {
		{ "lost=0\n", true },
		{ "lost=1\n", false },
		{ "", false },
		{ "lost=0\nnote=complete=1\n", true },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct hatf_reader_stats stats = { .struct_nbytes =
							   sizeof(stats) };
		struct hatf_reader *reader;
		struct hand h = { 0 };
		size_t n;
		int fd;

		put_ours(&h, &nothing, cases[i].tail);
		reader = open_bytes(&h, 0, &fd);
		hatf_reader_get_stats(reader, &stats);
		ck_assert(stats.ours && !stats.complete);
		ck_assert_int_eq(drain(reader, &n), HATF_END);
		ck_assert_uint_eq(n, 6);
		hatf_reader_get_stats(reader, &stats);
		ck_assert_int_eq(stats.complete, cases[i].complete);
		ck_assert_uint_eq(stats.block_count, 2);
		ck_assert_uint_eq(stats.record_count[HATF_COMMENT], 4);
		ck_assert_uint_eq(stats.file_nbytes, h.used);
		ck_assert_uint_eq(stats.hatf_nbytes, h.used);
		hatf_reader_close(reader);
		close(fd);
		hand_fini(&h);
	}
}
END_TEST

START_TEST(a_trace_that_lost_events_is_not_complete)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hand h = { 0 };
	size_t n;
	int fd;

	hand_comment(&h, "HATF 1.0\n");
	hand_comment(&h, "HATF lost\nthread=0\ncount=3\n");
	hand_comment(&h, "HATF lost\nthread=1\ncount=4\n");
	hand_comment(&h, "HATF lost\ncount=0\n");
	put_note(&h,
		 "HATF end\ncomplete=1\nevents=0\nrecords=4\nlost=0\n"
		 "hatf_bytes=%zu\n",
		 h.used);
	reader = open_bytes(&h, 0, &fd);
	ck_assert_int_eq(drain(reader, &n), HATF_END);
	hatf_reader_get_stats(reader, &stats);
	ck_assert(!stats.complete);
	ck_assert_uint_eq(stats.lost_count, 7);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

/*
 * Regression: the reader rejected such a trace, which the writer can produce; a
 * fuzzer found it.
 */
START_TEST(more_losses_than_can_be_counted_are_no_error)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hand h = { 0 };
	size_t n;
	int fd;

	hand_comment(&h, "HATF 1.0\n");
	for (unsigned i = 0; i < 3; i++)
		hand_comment(&h, "HATF lost\ncount=18446744073709551615\n");
	reader = open_bytes(&h, 0, &fd);
	ck_assert_int_eq(drain(reader, &n), HATF_NO_TRAILER);
	ck_assert_uint_eq(n, 4);
	hatf_reader_get_stats(reader, &stats);
	ck_assert_uint_eq(stats.lost_count, UINT64_MAX);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

START_TEST(header_and_trailer_can_be_asked)
{
	struct hatf_record r[MAX];
	struct hatf_reader *reader;
	struct hand h = { 0 };
	const char *command;
	size_t n;
	int fd;

	put_ours(&h, &nothing, "lost=0\n");
	reader = open_bytes(&h, 0, &fd);
	command = hatf_reader_header(reader, "command");
	ck_assert_str_eq(command, "a b c\\");
	ck_assert_str_eq(hatf_reader_header(reader, "producer"), "test");
	ck_assert_str_eq(hatf_reader_header(reader, "x"), "");
	ck_assert_ptr_null(hatf_reader_header(reader, "HATF 1.0"));
	ck_assert_ptr_null(hatf_reader_header(reader, "comm"));
	ck_assert_ptr_null(hatf_reader_header(reader, ""));
	ck_assert_ptr_null(hatf_reader_trailer(reader, "end"));
	/* The header is a record, too, and its values remain valid. */
	ck_assert_int_eq(hatf_reader_read(reader, r, MAX, &n), HATF_OK);
	ck_assert_uint_eq(n, 6);
	ck_assert_mem_eq(r[0].attributes, HEADER, strlen(HEADER));
	ck_assert_ptr_eq(hatf_reader_header(reader, "command"), command);
	ck_assert_str_eq(hatf_reader_trailer(reader, "end"), "exit");
	ck_assert_int_eq(hatf_reader_read(reader, r, MAX, &n), HATF_END);
	ck_assert_str_eq(hatf_reader_trailer(reader, "events"), "2");
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

START_TEST(a_trailer_that_is_not_last_is_none)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hand h = { 0 };
	size_t n;
	int fd;

	put_ours(&h, &nothing, "lost=0\n");
	hand_free(&h, 16);
	reader = open_bytes(&h, 0, &fd);
	ck_assert_int_eq(drain(reader, &n), HATF_NO_TRAILER);
	ck_assert_uint_eq(n, 7);
	ck_assert_uint_eq(hatf_reader_error(reader)->offset, h.used);
	ck_assert_uint_eq(hatf_reader_error(reader)->record, 7);
	ck_assert_ptr_null(hatf_reader_trailer(reader, "end"));
	hatf_reader_get_stats(reader, &stats);
	ck_assert(!stats.complete);
	hatf_reader_close(reader);
	close(fd);
	/* With another alloc in the second block, the trace is correct. */
	hand_fini(&h);
	put_ours(&h, &(struct wrong){ .last_bytes = 100 }, "lost=0\n");
	hand_free(&h, 16);
	put_note(&h,
		 "HATF end\ncomplete=1\nlost=0\nevents=3\nrecords=7\n"
		 "hatf_bytes=%zu\n",
		 h.used);
	reader = open_bytes(&h, 0, &fd);
	ck_assert_int_eq(drain(reader, &n), HATF_END);
	hatf_reader_get_stats(reader, &stats);
	ck_assert(stats.complete);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

START_TEST(claims_that_are_not_true_are_errors)
{
	static const struct {
		struct wrong wrong;
		const char *field;
		uint64_t record;
	} cases[] = {
		{ { .block = 1 }, "block", 3 },
		{ { .block = -1 }, "block", 3 },
		{ { .record = 1 }, "record", 3 },
		{ { .record = -1 }, "record", 3 },
		{ { .event = 1 }, "event", 3 },
		{ { .events = 1 }, "events", 5 },
		{ { .events = -1 }, "events", 5 },
		{ { .records = 1 }, "records", 5 },
		{ { .bytes = 1 }, "hatf_bytes", 5 },
		/* The first block would overlap the next one. */
		{ { .block_bytes = 1 }, "bytes", 3 },
		/* The alloc would lie outside any block. */
		{ { .block_bytes = -1 }, "bytes", 3 },
		{ { .last_bytes = -1 }, "bytes", 6 },
		/* The last block would exceed the stream. */
		{ { .last_bytes = 500 }, "bytes", 6 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct hatf_error *err;
		struct hatf_reader *reader;
		struct hand h = { 0 };
		size_t n;
		int fd;

		put_ours(&h, &cases[i].wrong, "lost=0\n");
		reader = open_bytes(&h, 0, &fd);
		ck_assert_int_eq(drain(reader, &n), HATF_BAD_COMMENT);
		ck_assert_uint_eq(n, cases[i].record);
		err = hatf_reader_error(reader);
		ck_assert_int_eq(err->status, HATF_BAD_COMMENT);
		ck_assert_str_eq(err->field, cases[i].field);
		ck_assert_uint_eq(err->record, cases[i].record);
		/*
		 * The offending record begins there: a comment, or the end of
		 * the trace.
		 */
		if (err->offset != h.used)
			ck_assert_uint_eq(h.bytes[err->offset], HATF_COMMENT);
		hatf_reader_close(reader);
		close(fd);
		hand_fini(&h);
	}
}
END_TEST

/*
 * Return the status of a trace of ours with 'text' as its second and last
 * comment.
 */
static enum hatf_status
status_with(const char *text, struct hatf_reader_stats *stats_ret)
{
	struct hatf_reader *reader;
	struct hand h = { 0 };
	enum hatf_status status;
	size_t n;
	int fd;

	hand_comment(&h, "HATF 1.0\n");
	hand_comment(&h, text);
	reader = open_bytes(&h, 0, &fd);
	status = drain(reader, &n);
	hatf_reader_get_stats(reader, stats_ret);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
	return status;
}

START_TEST(malformed_comments_of_ours_are_errors_and_others_are_not)
{
	static const struct {
		const char *text;
		enum hatf_status status;
		uint64_t lost;
	} cases[] = {
		{ "HATF lost\nthread=1\ncount=12\n", HATF_NO_TRAILER, 12 },
		{ "HATF lost\nthread=1\n", HATF_BAD_COMMENT, 0 },
		{ "HATF lost\ncount=12x\n", HATF_BAD_COMMENT, 0 },
		{ "HATF lost\ncount=99999999999999999999\n", HATF_BAD_COMMENT,
		  0 },
		{ "HATF losting\n", HATF_NO_TRAILER, 0 },
		{ "HATF block\n", HATF_BAD_COMMENT, 0 },
		{ "HATF block\nblock=0\nrecord=1\nevent=0\n", HATF_BAD_COMMENT,
		  0 },
		{ "HATF block\nblock=0\nrecord=1\nevent=0\nbytes=0000000001\n",
		  HATF_BAD_COMMENT, 0 },
		{ "HATF end\n", HATF_BAD_COMMENT, 0 },
		{ "HATF 1.0\n", HATF_BAD_COMMENT, 0 },
		{ "HATF new kind\n", HATF_NO_TRAILER, 0 },
		{ "anything", HATF_NO_TRAILER, 0 },
		{ "", HATF_NO_TRAILER, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct hatf_reader_stats stats = { .struct_nbytes =
							   sizeof(stats) };

		ck_assert_int_eq(status_with(cases[i].text, &stats),
				 cases[i].status);
		ck_assert_uint_eq(stats.lost_count, cases[i].lost);
	}
}
END_TEST

START_TEST(comments_of_a_foreign_trace_mean_nothing)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hand h = { 0 };
	size_t n;
	int fd;

	hand_alloc(&h, 1, 16);
	hand_comment(&h, "HATF 1.0\nproducer=x\n");
	hand_comment(&h, "HATF block\nblock=7\n");
	hand_comment(&h, "HATF end\n");
	reader = open_bytes(&h, 0, &fd);
	ck_assert_int_eq(drain(reader, &n), HATF_END);
	ck_assert_uint_eq(n, 4);
	hatf_reader_get_stats(reader, &stats);
	ck_assert(!stats.ours && stats.complete);
	ck_assert_uint_eq(stats.block_count, 0);
	ck_assert_ptr_null(hatf_reader_header(reader, "producer"));
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		our_traces_are_complete_if_they_say_so_and_it_is_true,
		a_trace_that_lost_events_is_not_complete,
		more_losses_than_can_be_counted_are_no_error,
		header_and_trailer_can_be_asked,
		a_trailer_that_is_not_last_is_none,
		claims_that_are_not_true_are_errors,
		malformed_comments_of_ours_are_errors_and_others_are_not,
		comments_of_a_foreign_trace_mean_nothing,
	};

	return hand_run("framing", tests, COUNT(tests));
}
