/* SPDX-License-Identifier: MIT */
/*
 * encoder_block.c - the memory of an encoder, and the beginning and end of a
 * block; see encoder.h
 */
#include "hatf/codec/encoder_block.h"

#include "hatf/codec/crc32c.h"

#include <stddef.h>
#include <string.h>

#define LENGTH_DIGITS 10

/* The line of a checksum.  encoder_end() writes the digits. */
#define SUM_LINE "crc32c=00000000\n"

/*
 * Maximum length of the text of a block comment, in bytes: up to 60 bytes of
 * words, and five numbers of at most 20 digits.
 */
#define BLOCK_COMMENT_MAX 160

/* ------------------------------------------------------------------ memory */

/*
 * Number of readable bytes after the end of 'texts': put_alloc_free() always
 * reads 8 bytes of attributes, even if there are fewer.
 */
#define TEXT_SPARE_NBYTES 8

static const struct place_planner default_planner = {
	.plan = place_span,
	.records = PLACE_SPAN_RECORDS,
	.changes = 2 * PLACE_SPAN_RECORDS,
};

static size_t
round_up(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

size_t
encoder_memory_nbytes(const struct place_planner *planner)
{
	const struct place_planner *const p =
		planner != NULL ? planner : &default_planner;

	return round_up(p->records * sizeof(struct hatf_record)) +
	       round_up(p->changes * sizeof(struct place_change)) +
	       p->records * ENCODER_TEXT_NBYTES + TEXT_SPARE_NBYTES;
}

size_t
encoder_room_nbytes(const struct place_planner *planner)
{
	const struct place_planner *const p =
		planner != NULL ? planner : &default_planner;

	return p->records * (ENCODER_RECORD_NBYTES + ENCODER_TEXT_NBYTES) +
	       ENCODER_RECORD_MAX_NBYTES;
}

void
encoder_init(struct encoder *e, uint8_t *buf, size_t cap,
	     const struct place_planner *planner, void *memory)
{
	uint8_t *next = memory;

	/* Do not zero 'place', because place_init() initializes it. */
	memset(e, 0, offsetof(struct encoder, place));
	memset((uint8_t *)e + offsetof(struct encoder, restart), 0,
	       sizeof(*e) - offsetof(struct encoder, restart));
	e->buf = buf;
	e->cap = cap;
	e->planner = planner != NULL ? *planner : default_planner;
	if (planner == NULL)
		e->planner.context = &e->place;
	e->span = memory;
	next += round_up(e->planner.records * sizeof(*e->span));
	e->changes = (struct place_change *)(void *)next;
	next += round_up(e->planner.changes * sizeof(*e->changes));
	e->texts = next;
	e->pending_max = encoder_choose_pending_max(e);
	if (cap > encoder_room_nbytes(planner) + ENCODER_RECORD_NBYTES)
		e->at_once_max = cap - encoder_room_nbytes(planner) -
				 ENCODER_RECORD_NBYTES;
	layout_init(&e->layout);
	place_init(&e->place);
}

/* ------------------------------------------------------------------ blocks */

uint64_t
encoder_data_records(const struct encoder *e)
{
	uint64_t count = 0;

	for (unsigned tag = 0; tag < HATF_METADATA; tag++)
		count += e->record_count[tag];
	return count;
}

bool
encoder_comment(struct encoder *e, const char *text, size_t nbytes)
{
	const struct hatf_record rec = {
		.tag = HATF_COMMENT,
		.attributes = (const uint8_t *)text,
		.attributes_nbytes = (uint32_t)nbytes,
	};

	if (nbytes > UINT16_MAX)
		return false;
	/*
	 * encoder_put() fails if the buffer has no room for the longest record,
	 * even if this comment would fit.  So write the comment without
	 * encoder_put(), unless records of the span or metadata must come
	 * first.
	 */
	if (e->pending != 0 || e->restart)
		return encoder_put(e, &rec);
	if (e->cap - e->used < 3 + nbytes + encoder_column_room(e))
		return false;
	encoder_write_comment(e, rec.attributes, nbytes);
	e->record_count[HATF_COMMENT]++;
	e->pending_max = encoder_choose_pending_max(e);
	return true;
}

/*
 * Set 'sum_off' to the offset of the checksum in the comment that was written
 * last.  This comment must end with SUM_LINE.
 */
static void
note_sum_place(struct encoder *e)
{
	e->sum_off = e->used - 1 - CRC32C_DIGITS;
}

bool
encoder_trailer(struct encoder *e, struct text *text)
{
	if (e->has_sums)
		text_str(text, SUM_LINE);
	if (!encoder_comment(e, text->buf, text->used))
		return false;
	if (e->has_sums && !text->full)
		note_sum_place(e);
	return true;
}

void
encoder_begin_bare(struct encoder *e)
{
	e->restart = true;
	place_begin_block(&e->place);
}

void
encoder_begin(struct encoder *e, uint64_t event, uint64_t time)
{
	static const char length[] = "bytes=0000000000\n";
	char buf[BLOCK_COMMENT_MAX];
	struct text t;

	memcpy(e->count_before, e->record_count, sizeof(e->count_before));
	text_init(&t, buf, sizeof(buf));
	text_str(&t, "HATF block\n");
	text_line_u64(&t, "block", e->block_count);
	text_line_u64(&t, "record", encoder_data_records(e));
	text_line_u64(&t, "event", event);
	text_line_u64(&t, "time", time);
	text_str(&t, length);
	/*
	 * The first block includes the header of the stream, so it starts at 0.
	 */
	e->block_off = e->block_count == 0 ? 0 : e->used;
	encoder_comment(e, buf, t.used);
	e->length_off = e->used - 1 - LENGTH_DIGITS;
	e->block_count++;
	encoder_begin_bare(e);
}

bool
encoder_is_full(const struct encoder *e, size_t block_nbytes)
{
	if (e->used >= block_nbytes ||
	    (e->column != NULL && stack_column_is_nearly_full(e->column)))
		return true;
	return e->planner.is_span_block &&
	       (e->pending == e->pending_max ||
		e->texts_used > e->planner.records * ENCODER_TEXT_NBYTES / 2);
}

static void
fill_in_length(struct encoder *e)
{
	size_t length = e->used - e->block_off;

	if (e->length_off == 0)
		return;
	for (unsigned i = LENGTH_DIGITS; i-- > 0; length /= 10)
		e->buf[e->length_off + i] = (uint8_t)('0' + length % 10);
}

static void
fill_in_sum(struct encoder *e)
{
	if (e->sum_off != 0)
		crc32c_write(crc32c_add(0, e->buf, e->sum_off),
			     e->buf + e->sum_off);
}

unsigned
encoder_end(struct encoder *e)
{
	static const char text[] = "HATF sum\n" SUM_LINE;
	unsigned added = encoder_end_column(e);

	if (e->has_sums && e->length_off != 0 && e->sum_off == 0 &&
	    encoder_comment(e, text, sizeof(text) - 1)) {
		note_sum_place(e);
		added++;
	}
	fill_in_length(e);
	fill_in_sum(e);
	return added;
}

void
encoder_cancel(struct encoder *e)
{
	if (e->column != NULL)
		encoder_use_column(e, e->column);
	e->pending = 0;
	e->texts_used = 0;
	e->used = 0;
	e->length_off = 0;
	e->sum_off = 0;
	/*
	 * Clear 'restart'.  Otherwise encoder_comment() would put the comment
	 * of the next block into the span, and so behind the metadata of that
	 * block.
	 */
	e->restart = false;
	e->block_count--;
	memcpy(e->record_count, e->count_before, sizeof(e->record_count));
	e->pending_max = encoder_choose_pending_max(e);
}

void
encoder_reset(struct encoder *e)
{
	e->stream_nbytes += e->used;
	e->used = 0;
	e->length_off = 0;
	e->sum_off = 0;
	e->pending_max = encoder_choose_pending_max(e);
}
