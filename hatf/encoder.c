/* SPDX-License-Identifier: MIT */
/*
 * encoder.c - see encoder.h
 *
 * Nearly all records are an alloc or free that fits the layout as it is.  They
 * take a path without a loop or a branch on their contents: every field is
 * stored as 8 bytes, of which the next field overwrites those that its width
 * does not count.  All else goes to put_slowly().
 */
#include "encoder.h"

#include "text.h"

#include <string.h>

#define LENGTH_DIGITS 10

/* The text of a block comment: 60 bytes, and five numbers of 20 digits. */
#define BLOCK_COMMENT_MAX 160

_Static_assert(ENCODER_RECORD_MAX_NBYTES >=
		       PLACE_METADATA_MAX / 3 * 24 + 1 + 6 * 8 + 2 + 65535,
	       "room for one record and its metadata");

void
encoder_init(struct encoder *e, uint8_t *buf, size_t cap)
{
	memset(e, 0, sizeof(*e));
	e->buf = buf;
	e->cap = cap;
	layout_init(&e->layout);
	place_init(&e->place);
}

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
	uint8_t *const p = e->buf + e->used;

	if (nbytes > UINT16_MAX || e->cap - e->used < 3 + nbytes)
		return false;
	p[0] = HATF_COMMENT;
	put_be16(p + 1, (uint16_t)nbytes);
	if (nbytes != 0)
		memcpy(p + 3, text, nbytes);
	e->used += 3 + nbytes;
	e->record_count[HATF_COMMENT]++;
	return true;
}

static void
put_metadata(struct encoder *e, const struct hatf_metadata *metadata,
	     size_t count)
{
	for (size_t i = 0; i < count; i++)
		e->used += layout_put_metadata(e->buf + e->used, &metadata[i]);
	e->record_count[HATF_METADATA] += count;
}

void
encoder_place(struct encoder *e, uint64_t time, uint64_t thread)
{
	struct hatf_metadata metadata[PLACE_METADATA_MAX];

	put_metadata(
		e, metadata,
		place_block(&e->place, &e->layout, time, thread, metadata));
}

void
encoder_begin(struct encoder *e, uint64_t event, uint64_t time, uint64_t thread)
{
	static const char length[] = "bytes=0000000000\n";
	char buf[BLOCK_COMMENT_MAX];
	struct text t;

	text_init(&t, buf, sizeof(buf));
	text_str(&t, "HATF block\n");
	text_line_u64(&t, "block", e->block_count);
	text_line_u64(&t, "record", encoder_data_records(e));
	text_line_u64(&t, "event", event);
	text_line_u64(&t, "time", time);
	text_str(&t, length);
	/* The first block begins where the stream does, before the header. */
	e->block_off = e->block_count == 0 ? 0 : e->used;
	encoder_comment(e, buf, t.used);
	e->length_off = e->used - 1 - LENGTH_DIGITS;
	e->block_count++;
	encoder_place(e, time, thread);
}

/*
 * Store a number that fits and step behind it.  Up to 8 bytes behind it are
 * overwritten; ENCODER_RECORD_MAX_NBYTES has them, as it counts 8 for each
 * field.
 */
static inline uint8_t *
put_number(uint8_t *p, const struct layout_field *f, size_t nbytes,
	   uint64_t value)
{
	/* For 0 bytes the shift is 0, and nothing of this is kept. */
	put_be64(p, layout_raw(f, value) << ((0u - 8 * nbytes) & 63));
	return p + nbytes;
}

static uint8_t *
put_attributes(uint8_t *p, const struct layout_field *f,
	       const struct hatf_record *rec)
{
	if (f->width == HATF_WIDTH_V1) {
		*p++ = (uint8_t)rec->attributes_nbytes;
	} else if (f->width == HATF_WIDTH_V2) {
		put_be16(p, (uint16_t)rec->attributes_nbytes);
		p += 2;
	}
	if (rec->attributes_nbytes != 0)
		memcpy(p, rec->attributes, rec->attributes_nbytes);
	return p + rec->attributes_nbytes;
}

static uint8_t *
put_field(uint8_t *p, struct layout_field *f, uint64_t value)
{
	p = put_number(p, f, f->nbytes, value);
	layout_use(f, value);
	return p;
}

/* The record alone, after place_record() has made it fit. */
static void
put_record(struct encoder *e, const struct hatf_record *rec)
{
	struct layout_field *const f = e->layout.field;
	const unsigned fields = layout_tag_fields(rec->tag);
	const bool is_heap =
		rec->tag == HATF_CREATE_HEAP || rec->tag == HATF_DESTROY_HEAP;
	const bool is_realloc = rec->tag >= HATF_REALLOC_NO_ALLOC &&
				rec->tag <= HATF_REALLOC_FREE;
	uint8_t *p = e->buf + e->used;

	*p++ = rec->tag;
	if (is_heap)
		p = put_field(p, &f[HATF_FIELD_HEAP], rec->heap);
	if (fields & 1u << HATF_FIELD_SIZE)
		p = put_field(p, &f[HATF_FIELD_SIZE], rec->size);
	if (is_realloc)
		p = put_field(p, &f[HATF_FIELD_ADDRESS], rec->old_address);
	if (fields & 1u << HATF_FIELD_ADDRESS)
		p = put_field(p, &f[HATF_FIELD_ADDRESS], rec->address);
	p = put_field(p, &f[HATF_FIELD_THREAD], rec->thread);
	if (fields & 1u << HATF_FIELD_HEAP && !is_heap)
		p = put_field(p, &f[HATF_FIELD_HEAP], rec->heap);
	p = put_field(p, &f[HATF_FIELD_TIME], rec->time);
	p = put_attributes(p, &f[HATF_FIELD_ATTRIBUTES], rec);
	e->used = (size_t)(p - e->buf);
	e->record_count[rec->tag]++;
}

static bool
has_room(const struct encoder *e)
{
	return e->cap - e->used >= ENCODER_RECORD_MAX_NBYTES;
}

static __attribute__((noinline)) bool
put_slowly(struct encoder *e, const struct hatf_record *rec)
{
	struct hatf_metadata metadata[PLACE_METADATA_MAX];

	if (!has_room(e) || rec->tag > HATF_COMMENT ||
	    rec->attributes_nbytes > UINT16_MAX)
		return false;
	if (rec->tag == HATF_COMMENT)
		return encoder_comment(e, (const char *)rec->attributes,
				       rec->attributes_nbytes);
	put_metadata(e, metadata,
		     place_record(&e->place, &e->layout, rec,
				  encoder_data_records(e), metadata));
	put_record(e, rec);
	return true;
}

bool
encoder_put(struct encoder *e, const struct hatf_record *rec)
{
	struct layout_field *const f = e->layout.field;
	const unsigned tag = rec->tag;

	if (tag > HATF_FREE || rec->attributes_nbytes != 0 || !has_room(e))
		return put_slowly(e, rec);

	/* No '&&': nearly always all are true, and a branch costs more. */
	bool fits = layout_fits(&f[HATF_FIELD_SIZE], rec->size);

	fits |= tag == HATF_FREE;
	fits &= layout_fits(&f[HATF_FIELD_ADDRESS], rec->address);
	fits &= layout_fits(&f[HATF_FIELD_THREAD], rec->thread);
	fits &= layout_fits(&f[HATF_FIELD_HEAP], rec->heap);
	fits &= layout_fits(&f[HATF_FIELD_TIME], rec->time);
	if (!fits || !place_keeps(&e->place, rec))
		return put_slowly(e, rec);

	uint8_t *p = e->buf + e->used;

	*p++ = rec->tag;
	/* HATF_ALLOC - 1 is all ones, HATF_FREE - 1 is 0. */
	p = put_number(p, &f[HATF_FIELD_SIZE],
		       f[HATF_FIELD_SIZE].nbytes & (tag - 1u), rec->size);
	p = put_number(p, &f[HATF_FIELD_ADDRESS], f[HATF_FIELD_ADDRESS].nbytes,
		       rec->address);
	p = put_number(p, &f[HATF_FIELD_THREAD], f[HATF_FIELD_THREAD].nbytes,
		       rec->thread);
	p = put_number(p, &f[HATF_FIELD_HEAP], f[HATF_FIELD_HEAP].nbytes,
		       rec->heap);
	p = put_number(p, &f[HATF_FIELD_TIME], f[HATF_FIELD_TIME].nbytes,
		       rec->time);
	layout_use(&f[HATF_FIELD_TIME], rec->time);
	/* No attributes: a length of 0, in 0, 1 or 2 bytes. */
	put_be16(p, 0);
	p += f[HATF_FIELD_ATTRIBUTES].width % 8;
	e->used = (size_t)(p - e->buf);
	e->record_count[tag]++;
	return true;
}

void
encoder_end(struct encoder *e)
{
	size_t length = e->used - e->block_off;

	if (e->length_off == 0)
		return;
	for (unsigned i = LENGTH_DIGITS; i-- > 0; length /= 10)
		e->buf[e->length_off + i] = (uint8_t)('0' + length % 10);
}

void
encoder_reset(struct encoder *e)
{
	e->stream_nbytes += e->used;
	e->used = 0;
	e->length_off = 0;
}
