/* SPDX-License-Identifier: MIT */
/*
 * test_pieces.c - the pieces of a text become one comment, whatever they are
 *
 * A text of the program takes several events.  narrate_put_piece() joins them.
 * The pieces of a killed process come from its ring file, which may contain
 * anything: counts above 32, texts without an end, more than 1024 bytes.
 */
#include "hatf/rings/narrate_comments.h"
#include "hatf/rings/narrate_stacks.h"
#include "tests/unit/support/hand.h"

#define LAST   0u
#define THREAD 7

static struct narrator n;
static void *memory;
static const struct order_producer producer = { .id = THREAD };

static void
begin(void)
{
	memory = aligned_alloc(64, narrate_memory_nbytes(false));
	ck_assert_ptr_nonnull(memory);
	narrate_init(&n, memory, false);
	narrate_start_clock(&n, 0, 0);
}

static void
put_counted(enum event_type type, unsigned flags, const void *bytes,
	    size_t nbytes, unsigned count)
{
	struct event ev = { .type = type,
			    .flags = flags | count << EVENT_PIECE_SHIFT };

	memcpy(ev.operand, bytes, nbytes);
	narrate_put_piece(&n, &producer, &ev);
}

static void
put(enum event_type type, unsigned flags, const void *bytes, size_t nbytes)
{
	put_counted(type, flags, bytes, nbytes, (unsigned)nbytes);
}

/* Put a text in pieces of at most 'step' bytes; 'flags' are those of each. */
static void
put_text(enum event_type type, unsigned flags, const char *text, size_t nbytes,
	 size_t step)
{
	for (size_t at = 0; at < nbytes || at == 0; at += step)
		put(type, flags | (nbytes - at > step ? EVENT_FLAG_MORE : LAST),
		    text + at, nbytes - at > step ? step : nbytes - at);
}

/* How often is this in the bytes of the trace? */
static unsigned
count(const char *text)
{
	const uint8_t *next = n.encoder.buf;
	unsigned found = 0;

	encoder_flush(&n.encoder);
	while ((next = memmem(next,
			      (size_t)(n.encoder.buf + n.encoder.used - next),
			      text, strlen(text))) != NULL) {
		next++;
		found++;
	}
	return found;
}

/* Check that the trace has this comment once, as a whole. */
static void
check_comment(const char *text)
{
	const size_t nbytes = strlen(text);
	char record[5000];

	ck_assert_uint_lt(nbytes, sizeof(record) - 3);
	record[0] = HATF_COMMENT;
	record[1] = (char)(nbytes >> 8);
	record[2] = (char)nbytes;
	memcpy(record + 3, text, nbytes + 1);
	encoder_flush(&n.encoder);
	ck_assert_msg(memmem(n.encoder.buf, n.encoder.used, record,
			     nbytes + 3) != NULL,
		      "there is no comment '%s'", text);
	ck_assert_uint_eq(count(text), 1);
}

START_TEST(a_text_is_the_same_in_pieces_of_any_size)
{
	static const char text[] = "step\0the first of some steps, in pieces";

	for (size_t step = 1; step <= EVENT_PIECE_NBYTES; step++) {
		begin();
		put_text(EVENT_CLIENT, 0, text, sizeof(text) - 1, step);
		check_comment("HATF event\nthread=7\ntime=0\nname=step\n"
			      "text=the first of some steps, in pieces\n");
		free(memory);
	}
}
END_TEST

START_TEST(each_kind_has_its_comment)
{
	static const char fields[] = "app.step\0id=1 data=\"\\x0a\"";
	static const char dtd[] = "app\0"
				  "0\0"
				  "5\0"
				  "tag.\n";

	begin();
	put_text(EVENT_MARK, 0, "here\n", 5, 32);
	put_text(EVENT_CLIENT, EVENT_FLAG_FIELDS, fields, sizeof(fields) - 1,
		 32);
	put_text(EVENT_CLIENT_DTD, 0, dtd, sizeof(dtd) - 1, 4);
	check_comment("HATF mark\nthread=7\ntime=0\ntext=here\\x0a\n");
	check_comment("HATF event\nthread=7\ntime=0\nname=app.step\n"
		      "fields=id=1 data=\"\\x5cx0a\"\n");
	check_comment("HATF dtd\ndtd=app\noffset=0\nsize=5\ntext=tag.\\x0a\n");
	free(memory);
}
END_TEST

START_TEST(a_text_may_lack_its_parts)
{
	begin();
	put(EVENT_CLIENT, LAST, "", 0);
	check_comment("HATF event\nthread=7\ntime=0\nname=\ntext=\n");
	put(EVENT_CLIENT, LAST, "alone", 5);
	check_comment("HATF event\nthread=7\ntime=0\nname=alone\ntext=\n");
	put(EVENT_CLIENT_DTD, LAST, "app", 3);
	check_comment("HATF dtd\ndtd=app\noffset=\nsize=\ntext=\n");
	put(EVENT_MARK, LAST, "", 0);
	check_comment("HATF mark\nthread=7\ntime=0\ntext=\n");
	free(memory);
}
END_TEST

/* A count above 32 means 32: the piece has no more bytes. */
START_TEST(a_count_is_at_most_the_size_of_a_piece)
{
	static const char piece[] = "0123456789abcdefghijklmnopqrstuv";

	begin();
	put_counted(EVENT_MARK, LAST, piece, 32, (1u << 24) - 1);
	check_comment("HATF mark\nthread=7\ntime=0\n"
		      "text=0123456789abcdefghijklmnopqrstuv\n");
	free(memory);
}
END_TEST

/* What exceeds the longest text is left out; the next text is whole again. */
START_TEST(a_text_without_end_is_cut_at_its_limit)
{
	static const char piece[] = "0123456789abcdefghijklmnopqrstu";
	char want[EVENT_TEXT_NBYTES + 100] =
		"HATF mark\nthread=7\ntime=0\ntext=";

	begin();
	for (unsigned i = 0; i < 5000; i++) {
		put(EVENT_MARK, EVENT_FLAG_MORE, piece, 31);
		ck_assert_uint_le(n.pieces_nbytes, EVENT_TEXT_NBYTES);
	}
	ck_assert_uint_eq(count("HATF mark"), 0);
	put(EVENT_MARK, LAST, piece, 31);
	for (unsigned i = 0; i < EVENT_TEXT_NBYTES; i++)
		strncat(want, &piece[i % 31], 1);
	strcat(want, "\n");
	check_comment(want);
	put(EVENT_MARK, LAST, "next", 4);
	check_comment("HATF mark\nthread=7\ntime=0\ntext=next\n");
	free(memory);
}
END_TEST

/* Bytes that must be escaped take four; the longest such text still fits. */
START_TEST(the_longest_comment_fits)
{
	char piece[EVENT_PIECE_NBYTES];

	begin();
	memset(piece, 1, sizeof(piece));
	for (unsigned i = 1; i < EVENT_TEXT_NBYTES / sizeof(piece); i++)
		put(EVENT_MARK, EVENT_FLAG_MORE, piece, sizeof(piece));
	put(EVENT_MARK, LAST, piece, sizeof(piece));
	ck_assert_uint_eq(count("\\x01"), EVENT_TEXT_NBYTES);
	ck_assert_uint_eq(count("\\x01\n"), 1);
	free(memory);
}
END_TEST

static void
put_definition(enum event_type type, unsigned flags, const char *text)
{
	struct event ev = { .type = type, .flags = flags };

	memcpy(ev.operand, text, strlen(text));
	narrate_put_definition(&n, &ev);
}

/* The text of an object is written once, however many ends of it there are. */
START_TEST(an_object_ends_once)
{
	static struct narrate_stacks stacks;

	memory = aligned_alloc(64, narrate_memory_nbytes(true));
	ck_assert_ptr_nonnull(memory);
	narrate_init(&n, memory, true);
	narrate_start_clock(&n, 0, 0);
	narrate_use_stacks(&n, &stacks);
	put_definition(EVENT_OBJECT, 0, "");
	put_definition(EVENT_OBJECT_TEXT, EVENT_FLAG_MORE,
		       "ab\n/a/path/that/is/a/long/one/of");
	put_definition(EVENT_OBJECT_TEXT, LAST, "/two-pieces");
	for (unsigned i = 0; i < 100; i++)
		put_definition(EVENT_OBJECT_TEXT, LAST, "again");
	ck_assert_uint_eq(count("HATF object"), 1);
	ck_assert_uint_eq(count("/of/two-pieces\n"), 1);
	free(memory);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_text_is_the_same_in_pieces_of_any_size,
		each_kind_has_its_comment,
		a_text_may_lack_its_parts,
		a_count_is_at_most_the_size_of_a_piece,
		a_text_without_end_is_cut_at_its_limit,
		the_longest_comment_fits,
		an_object_ends_once,
	};

	return hand_run("pieces", tests, 7);
}
