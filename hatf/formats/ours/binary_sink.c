/* SPDX-License-Identifier: MIT */
/*
 * binary_sink.c - write records as Simple Binary
 *
 * The header of a section states the width of its numbers and the base of its
 * addresses, so the sink collects up to SECTION_ROWS records before it writes a
 * section.
 */
#include "hatf/formats/ours/binary.h"

#include "hatf/codec/bytes.h"

#include <stdlib.h>

/*
 * Maximum number of rows of a section.  One number that needs 8 bytes doubles
 * the length of its section, so sections must be small.  But they must be large
 * enough that their headers matter little.
 */
#define SECTION_ROWS 4096

static inline void
put(uint8_t *p, unsigned width, uint64_t value)
{
	if (width == 4)
		put_be32(p, (uint32_t)value);
	else
		put_be64(p, value);
}

static void
put_header(struct sink *s, unsigned width, unsigned columns, size_t rows,
	   uint64_t base)
{
	uint8_t header[BINARY_HEADER_NBYTES] = { 0 };

	header[0] = (uint8_t)width;
	header[1] = (uint8_t)columns;
	put_be32(header + 4, (uint32_t)rows);
	put_be64(header + 8, base);
	outfile_bytes(&s->out, header, sizeof(header));
}

/* Write a row at 'p'.  Return the length of the row in bytes. */
static size_t
put_row(const struct columns *c, size_t idx, unsigned width, unsigned columns,
	uint8_t *p)
{
	const uint8_t *const start = p;

	put(p, width, c->tags[idx]);
	p += width;
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		if (i >= COLUMN_ALWAYS &&
		    !(columns & 1u << (i - COLUMN_ALWAYS)))
			continue;
		put(p, width, columns_raw(c, i, idx, width));
		p += width;
	}
	return (size_t)(p - start);
}

static void
put_section(struct sink *s)
{
	struct columns *const c = s->ctx;
	const uint8_t *bytes = c->bytes;
	unsigned width = 4;
	unsigned columns = 0;

	columns_choose_base(c);
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		const unsigned needs = columns_width(c, i);

		if (needs > width)
			width = needs;
		if (i >= COLUMN_ALWAYS && needs != 0)
			columns |= 1u << (i - COLUMN_ALWAYS);
	}
	put_header(s, width, columns, c->count, width == 4 ? c->base : 0);
	for (size_t i = 0; i < c->count; i++) {
		const size_t nbytes = c->tags[i] == HATF_COMMENT
					      ? c->values[COLUMN_SIZE][i]
					      : c->values[COLUMN_LENGTH][i];

		outfile_advance(
			&s->out,
			put_row(c, i, width, columns,
				outfile_room(&s->out, BINARY_ROW_MAX_NBYTES)));
		if (nbytes == 0)
			continue;
		outfile_bytes(&s->out, bytes, nbytes);
		bytes += nbytes;
	}
	columns_reset(c);
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct columns *const c = s->ctx;

	for (size_t i = 0; i < n; i++) {
		columns_put(c, &records[i]);
		if (columns_are_full(c))
			put_section(s);
	}
	return s->out.status;
}

static enum hatf_status
finish(struct sink *s)
{
	struct columns *const c = s->ctx;

	if (c->count != 0)
		put_section(s);
	put_header(s, 4, 0, 0, 0);
	return s->out.status;
}

static enum hatf_status
open_sink(struct sink *s)
{
	struct columns *const c = malloc(sizeof(*c));

	s->ctx = c;
	if (c == NULL || columns_init(c, SECTION_ROWS) != HATF_OK)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	outfile_bytes(&s->out, BINARY_MAGIC, BINARY_MAGIC_NBYTES);
	return HATF_OK;
}

static void
close_sink(struct sink *s)
{
	struct columns *const c = s->ctx;

	if (c == NULL)
		return;
	columns_fini(c);
	free(c);
}

const struct sink_ops binary_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
