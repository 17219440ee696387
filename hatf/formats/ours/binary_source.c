/* SPDX-License-Identifier: MIT */
/*
 * binary_source.c - read records from Simple Binary
 *
 * The source decodes the rows in place in the window.  The fast path,
 * take_rows(), decodes allocs, frees and reallocs without attributes.
 * take_rows() stops before any other row, valid or not, and take_row() then
 * decodes that row.  The compiler makes three copies of take_rows(): for
 * sections without optional columns, one for each of the two widths; for
 * sections with optional columns, one for both widths.
 */
#include "hatf/formats/ours/binary.h"

#include "hatf/codec/bytes.h"
#include "hatf/codec/hatf_record.h"

#include <stdlib.h>

struct binary {
	uint32_t rows; /* number of rows left in the section */
	unsigned width;
	/* the optional columns, as bits '1 << (column - COLUMN_ALWAYS)' */
	unsigned columns;
	size_t row_nbytes;
	uint64_t base;
};

static inline uint64_t
get(const uint8_t *p, unsigned width)
{
	return width == 4 ? get_be32(p) : get_be64(p);
}

/*
 * Decode up to 'n' rows at 'p' and return how many were decoded.  'width' and
 * 'columns' are those of the section.  For a section without optional columns,
 * the caller passes both as compile-time constants, for speed.
 */
static inline __attribute__((always_inline)) size_t
take_rows(const struct binary *b, const uint8_t *p, uint64_t offset,
	  struct hatf_record *rec, size_t n, unsigned width, unsigned columns)
{
	const uint64_t base = b->base;
	const size_t row_nbytes = columns == 0 ? 4 * width : b->row_nbytes;

	for (size_t i = 0; i < n; i++, p += row_nbytes, rec++) {
		const uint64_t tag = get(p, width);
		const uint64_t size = get(p + width, width);
		const uint64_t address = get(p + 2 * width, width);
		const uint64_t old_address = get(p + 3 * width, width);
		uint64_t more[BINARY_OPTIONAL] = { 0 };
		const uint8_t *next = p + 4 * width;

		for (unsigned j = 0; columns != 0 && j < BINARY_OPTIONAL; j++)
			if (columns & 1u << j) {
				more[j] = get(next, width);
				next += width;
			}
		if (tag > HATF_REALLOC_FREE ||
		    ((size & ~column_mask[tag][COLUMN_SIZE]) |
		     (old_address & ~column_mask[tag][COLUMN_OLD_ADDRESS]) |
		     more[COLUMN_LENGTH - COLUMN_ALWAYS]) != 0)
			return i;
		hatf_record_clear(rec);
		rec->tag = (uint8_t)tag;
		rec->size = size;
		rec->address = column_address(address, base);
		rec->old_address = column_address(old_address, base);
		rec->thread = more[COLUMN_THREAD - COLUMN_ALWAYS];
		rec->heap = more[COLUMN_HEAP - COLUMN_ALWAYS];
		rec->time = more[COLUMN_TIME - COLUMN_ALWAYS];
		rec->offset = offset + i * row_nbytes;
	}
	return n;
}

/*
 * Decode the row at 'p': store the value of each column in 'value[column]', or
 * 0 if the section does not have the column.  Return the tag.
 */
static uint64_t
get_row(const struct binary *b, const uint8_t *p, uint64_t *value)
{
	const uint64_t tag = get(p, b->width);

	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		value[i] = 0;
		if (i >= COLUMN_ALWAYS &&
		    !(b->columns & 1u << (i - COLUMN_ALWAYS)))
			continue;
		p += b->width;
		value[i] = get(p, b->width);
	}
	value[COLUMN_ADDRESS] = column_address(value[COLUMN_ADDRESS], b->base);
	value[COLUMN_OLD_ADDRESS] =
		column_address(value[COLUMN_OLD_ADDRESS], b->base);
	return tag;
}

/* Check the numbers of a row; if one is invalid, stop and return false. */
static bool
check_row(struct source *s, uint64_t tag, const uint64_t *value)
{
	if (tag > HATF_COMMENT) {
		source_stop(s, HATF_BAD_TAG, "tag");
		return false;
	}
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		if ((value[i] & ~column_mask[tag][i]) != 0) {
			source_stop(s, HATF_BAD_FIELD, column_name(i));
			return false;
		}
	return true;
}

/*
 * Decode any kind of row at the start of the window.  Return false if the row
 * is invalid.  Also return false if the window has only a part of the row;
 * '*want_ret' is then the length of the whole row.
 */
static bool
take_row(struct source *s, struct hatf_record *rec, size_t *want_ret)
{
	const struct binary *const b = s->ctx;
	uint64_t value[COLUMN_COUNT];
	const uint64_t tag = get_row(b, s->window.next, value);

	*want_ret = 0;
	if (!check_row(s, tag, value))
		return false;

	const bool is_comment = tag == HATF_COMMENT;
	const size_t nbytes =
		is_comment ? value[COLUMN_SIZE] : value[COLUMN_LENGTH];

	if (input_window_left(&s->window) - b->row_nbytes < nbytes) {
		*want_ret = b->row_nbytes + nbytes;
		return false;
	}
	*rec = (struct hatf_record){
		.tag = (uint8_t)tag,
		.size = is_comment ? 0 : value[COLUMN_SIZE],
		.address = value[COLUMN_ADDRESS],
		.old_address = value[COLUMN_OLD_ADDRESS],
		.thread = value[COLUMN_THREAD],
		.heap = value[COLUMN_HEAP],
		.time = value[COLUMN_TIME],
		.offset = s->offset,
		.attributes =
			nbytes == 0 ? NULL : s->window.next + b->row_nbytes,
		.attributes_nbytes = (uint32_t)nbytes,
	};
	s->window.next += b->row_nbytes + nbytes;
	s->offset += b->row_nbytes + nbytes;
	return true;
}

/*
 * Decode rows of the section, as long as the window has a whole row, and return
 * how many.  Set '*want_ret' to a lower bound of the number of bytes that the
 * next row needs in the window.
 */
static size_t
take(struct source *s, struct hatf_record *records, size_t max,
     size_t *want_ret)
{
	struct binary *const b = s->ctx;
	const size_t whole = input_window_left(&s->window) / b->row_nbytes;
	const uint8_t *const p = s->window.next;
	size_t n = max < b->rows ? max : b->rows;

	if (n > whole)
		n = whole;
	if (b->columns != 0)
		n = take_rows(b, p, s->offset, records, n, b->width,
			      b->columns);
	else if (b->width == 4)
		n = take_rows(b, p, s->offset, records, n, 4, 0);
	else
		n = take_rows(b, p, s->offset, records, n, 8, 0);
	s->window.next += n * b->row_nbytes;
	s->offset += n * b->row_nbytes;
	*want_ret = b->row_nbytes;
	if (n < max && n < b->rows && n < whole)
		n += take_row(s, &records[n], want_ret);
	b->rows -= (uint32_t)n;
	return n;
}

/* Read the header of a section at the start of the window. */
static void
begin_section(struct source *s)
{
	struct binary *const b = s->ctx;
	const uint8_t *const p = s->window.next;

	b->width = p[0];
	b->columns = p[1];
	b->rows = get_be32(p + 4);
	b->base = get_be64(p + 8);
	if (b->width != 4 && b->width != 8)
		source_stop(s, HATF_BAD_FIELD, "width");
	else if (b->columns >= 1u << BINARY_OPTIONAL)
		source_stop(s, HATF_BAD_FIELD, "columns");
	else if (get_be16(p + 2) != 0)
		source_stop(s, HATF_BAD_FIELD, "reserved");
	else if (b->width == 8 && b->base != 0)
		source_stop(s, HATF_BAD_FIELD, "base");
	if (s->err.status != HATF_OK)
		return;
	b->row_nbytes = b->width * (1 + COLUMN_ALWAYS +
				    (size_t)__builtin_popcount(b->columns));
	s->window.next += BINARY_HEADER_NBYTES;
	s->offset += BINARY_HEADER_NBYTES;
	if (b->rows != 0)
		return;
	/* The section has no rows, so the file must end here. */
	if (input_window_fill(&s->window, 1) == 0)
		source_stop_at_end(s, 0, NULL);
	else
		source_stop(s, HATF_BAD_FIELD, "section");
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	const struct binary *const b = s->ctx;
	size_t n = 0;
	size_t want = 0;

	while (n < max && s->err.status == HATF_OK) {
		if (input_window_left(&s->window) < want) {
			if (n > 0)
				/*
				 * Stop, because the records point into the
				 * window, which input_window_fill() would move.
				 */
				break;
			if (input_window_fill(&s->window, want) < want)
				source_stop_at_end(s, 1, "row");
		} else if (b->rows == 0 && want == 0) {
			want = BINARY_HEADER_NBYTES;
		} else if (b->rows == 0) {
			/*
			 * First return the records, because they point into the
			 * window.  If the next section is the last one,
			 * begin_section() calls input_window_fill(), which
			 * would move the window.
			 */
			if (n > 0)
				break;
			begin_section(s);
			want = 0;
		} else {
			n += take(s, records + n, max - n, &want);
			if (b->rows == 0)
				want = 0;
		}
	}
	return n;
}

static enum hatf_status
open_source(struct source *s)
{
	struct binary *const b = calloc(1, sizeof(*b));

	if (b == NULL)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	s->ctx = b;
	s->window.next += BINARY_MAGIC_NBYTES;
	s->offset = BINARY_MAGIC_NBYTES;
	return HATF_OK;
}

static void
close_source(struct source *s)
{
	free(s->ctx);
}

bool
binary_recognize(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= BINARY_MAGIC_NBYTES &&
	       memcmp(bytes, BINARY_MAGIC, BINARY_MAGIC_NBYTES) == 0;
}

const struct source_ops binary_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
