/* SPDX-License-Identifier: MIT */
/*
 * split_source.c - read records from Split Stream
 *
 * The source makes records in batches, field by field.  For each stream of the
 * group, a loop runs over the records of the batch, which stay in the
 * first-level cache.  If the stream is invalid for a record, the loop cuts the
 * batch before this record, and the later loops do not set the record's fields.
 */
#include "hatf/formats/ours/split.h"

#include "hatf/codec/bytes.h"
#include "hatf/codec/hatf_record.h"

#include <stdlib.h>

#define BATCH 128

struct split {
	struct group group;
	uint32_t next; /* index of the next record in the group */
	/*
	 * bytes that one record takes in all streams together, except in the
	 * stream 'bytes'
	 */
	size_t row_nbytes;
	/* how many bytes of the stream 'bytes' are used so far */
	size_t bytes_used;
	/*
	 * Name of the invalid field, if the record after the batch is invalid;
	 * else NULL.
	 */
	const char *field;
	enum hatf_status status; /* the status to report with 'field' */
};

/*
 * Return the bytes of record 'idx' in a stream; NULL if the group has no piece
 * of that stream.
 */
static const uint8_t *
piece_at(const struct split *p, unsigned stream, uint32_t idx)
{
	const struct piece *const piece = &p->group.piece[stream];

	return piece->form == 0 ? NULL
				: piece->bytes + (size_t)idx * piece->form;
}

static bool
has(const struct split *p, unsigned stream)
{
	return p->group.piece[stream].form != 0;
}

/* End the batch before record 'n', whose 'field' is invalid.  Return 'n'. */
static size_t
cut(struct split *p, enum hatf_status status, const char *field, size_t n)
{
	p->status = status;
	p->field = field;
	return n;
}

/*
 * Initialize the records with their tags.  Return the index of the first record
 * whose tag is invalid; 'n' if there is none.  '*has_comment_ret' is false if
 * no record is a comment.
 */
static size_t
take_tags(struct split *p, struct hatf_record *rec, size_t n,
	  bool *has_comment_ret)
{
	const uint8_t *const tags = piece_at(p, SPLIT_TAGS, p->next);
	uint64_t offset =
		p->group.offset + p->next * p->row_nbytes + p->bytes_used;
	uint8_t highest = 0;

	for (size_t i = 0; i < n; i++) {
		hatf_record_clear(&rec[i]);
		rec[i].tag = tags[i];
		rec[i].offset = offset;
		offset += p->row_nbytes;
		highest = tags[i] > highest ? tags[i] : highest;
	}
	*has_comment_ret = highest >= HATF_COMMENT;
	if (highest > HATF_COMMENT)
		for (size_t i = 0; i < n; i++)
			if (tags[i] > HATF_COMMENT)
				return cut(p, HATF_BAD_TAG, "tag", i);
	return n;
}

/*
 * Set one field of the records from its column.  'width' is a compile-time
 * constant.  Return the index of the first record whose value is invalid; 'n'
 * if there is none.
 */
static inline __attribute__((always_inline)) size_t
take_numbers(const uint8_t *from, unsigned width, uint64_t base,
	     enum column column, struct hatf_record *rec, size_t n)
{
	uint8_t *to = (uint8_t *)rec + column_offsets[column];
	uint64_t wrong = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t raw = width == 4 ? get_be32(from + 4 * i)
						: get_be64(from + 8 * i);
		const uint64_t value = column_address(raw, base);

		wrong |= raw & ~column_mask[rec[i].tag][column];
		memcpy(to, &value, sizeof(value));
		to += sizeof(*rec);
	}
	if (wrong == 0)
		return n;
	for (size_t i = 0;; i++) {
		const uint64_t raw = width == 4 ? get_be32(from + 4 * i)
						: get_be64(from + 8 * i);

		if ((raw & ~column_mask[rec[i].tag][column]) != 0)
			return i;
	}
}

static size_t
take_column(struct split *p, enum column column, struct hatf_record *rec,
	    size_t n)
{
	const struct piece *const piece = &p->group.piece[SPLIT_COLUMN(column)];
	const uint8_t *const from = piece_at(p, SPLIT_COLUMN(column), p->next);
	size_t good;

	if (piece->form == 4)
		good = take_numbers(from, 4, piece->base, column, rec, n);
	else
		good = take_numbers(from, 8, 0, column, rec, n);
	return good == n ? n
			 : cut(p, HATF_BAD_FIELD, column_name(column), good);
}

/*
 * Set the attributes of records and the texts of comment records.  Return the
 * index of the first invalid record; 'n' if there is none.
 */
static size_t
take_bytes(struct split *p, struct hatf_record *rec, size_t n)
{
	const struct piece *const bytes = &p->group.piece[SPLIT_BYTES];
	const unsigned width = p->group.piece[SPLIT_COLUMN(COLUMN_LENGTH)].form;
	const uint8_t *const lengths =
		piece_at(p, SPLIT_COLUMN(COLUMN_LENGTH), p->next);
	uint64_t used = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t nbytes = width == 0   ? 0
				  : width == 4 ? get_be32(lengths + 4 * i)
					       : get_be64(lengths + 8 * i);

		if ((nbytes & ~column_mask[rec[i].tag][COLUMN_LENGTH]) != 0)
			return cut(p, HATF_BAD_FIELD, "length", i);
		if (rec[i].tag == HATF_COMMENT) {
			nbytes = rec[i].size;
			rec[i].size = 0;
		}
		rec[i].offset += used;
		if (nbytes > bytes->nbytes - p->bytes_used)
			return cut(p, HATF_BAD_FIELD, "bytes", i);
		if (nbytes != 0)
			rec[i].attributes = bytes->bytes + p->bytes_used;
		rec[i].attributes_nbytes = (uint32_t)nbytes;
		p->bytes_used += nbytes;
		used += nbytes;
	}
	return n;
}

/* Make a batch of records.  It is empty only if the next record is invalid. */
static size_t
take(struct source *s, struct hatf_record *rec, size_t n)
{
	struct split *const p = s->ctx;
	bool has_comment;

	n = take_tags(p, rec, n, &has_comment);
	for (unsigned i = 0; i < COLUMN_LENGTH; i++)
		if (has(p, SPLIT_COLUMN(i)))
			n = take_column(p, i, rec, n);
	if (has_comment || has(p, SPLIT_COLUMN(COLUMN_LENGTH)))
		n = take_bytes(p, rec, n);
	p->next += (uint32_t)n;
	s->offset = p->group.offset + p->next * p->row_nbytes + p->bytes_used;
	return n;
}

/* Return the name of an invalid part of a piece, or NULL. */
static const char *
check_piece(const struct split *p, unsigned stream)
{
	const struct piece *const piece = &p->group.piece[stream];
	const bool is_column = stream != SPLIT_TAGS && stream != SPLIT_BYTES;
	const bool is_address = stream == SPLIT_COLUMN(COLUMN_ADDRESS) ||
				stream == SPLIT_COLUMN(COLUMN_OLD_ADDRESS);

	if (is_column ? piece->form != 4 && piece->form != 8
		      : piece->form != SPLIT_FORM_BYTES)
		return "form";
	if (piece->base != 0 && !(is_address && piece->form == 4))
		return "base";
	if (stream != SPLIT_BYTES &&
	    piece->nbytes != (size_t)p->group.record_count * piece->form)
		return "length";
	return NULL;
}

/*
 * Read the next group.  Return false if there is no next group, or if it is
 * invalid.
 */
static bool
begin_group(struct source *s)
{
	struct split *const p = s->ctx;
	struct group *const g = &p->group;

	s->offset = g->end_offset;
	if (!group_read(s, g, SPLIT_STREAM_COUNT))
		return false;
	if (!has(p, SPLIT_TAGS)) {
		source_stop(s, HATF_BAD_FIELD, "stream");
		return false;
	}
	p->row_nbytes = 0;
	for (unsigned i = 0; i < SPLIT_STREAM_COUNT; i++) {
		const char *const field = has(p, i) ? check_piece(p, i) : NULL;

		if (field != NULL) {
			source_stop(s, HATF_BAD_FIELD, field);
			return false;
		}
		if (i != SPLIT_BYTES)
			p->row_nbytes += g->piece[i].form;
	}
	p->next = 0;
	p->bytes_used = 0;
	return true;
}

/*
 * Have the records used all bytes of the stream SPLIT_BYTES?  If not, the group
 * is invalid; stop with an error.
 */
static bool
end_group(struct source *s)
{
	const struct split *const p = s->ctx;

	if (p->bytes_used == p->group.piece[SPLIT_BYTES].nbytes)
		return true;
	source_stop(s, HATF_BAD_FIELD, "bytes");
	return false;
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct split *const p = s->ctx;
	const struct group *const g = &p->group;
	size_t n = 0;

	while (n < max && s->err.status == HATF_OK) {
		size_t batch = max - n < BATCH ? max - n : BATCH;

		if (p->next == g->record_count) {
			/*
			 * The records point into the group, so return them
			 * before the next group replaces it.
			 */
			if (n > 0 || !end_group(s) || !begin_group(s))
				break;
			continue;
		}
		if (batch > g->record_count - p->next)
			batch = g->record_count - p->next;
		n += take(s, records + n, batch);
		if (p->field != NULL)
			source_stop(s, p->status, p->field);
	}
	return n;
}

static enum hatf_status
open_source(struct source *s)
{
	struct split *const p = calloc(1, sizeof(*p));

	s->ctx = p;
	if (p == NULL || group_open(s, &p->group) != HATF_OK)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	return HATF_OK;
}

static void
close_source(struct source *s)
{
	struct split *const p = s->ctx;

	if (p == NULL)
		return;
	group_fini(&p->group);
	free(p);
}

bool
split_recognize(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= GROUP_MAGIC_NBYTES &&
	       memcmp(bytes, SPLIT_MAGIC, GROUP_MAGIC_NBYTES) == 0;
}

const struct source_ops split_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
