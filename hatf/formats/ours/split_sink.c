/* SPDX-License-Identifier: MIT */
/* split_sink.c - write records as Split Stream */
#include "hatf/formats/ours/split.h"

#include "hatf/codec/bytes.h"

#include <stdlib.h>

/*
 * Maximum number of records of a group.  The sink compresses each stream of a
 * group separately, which costs few bytes only if the group is large.  One
 * address of 8 bytes makes all addresses of its group 8 bytes wide, so the
 * group must not be larger than necessary.
 */
#define GROUP_RECORDS 32768
_Static_assert(GROUP_RECORDS <= GROUP_RECORDS_MAX,
	       "readers refuse a larger group");
_Static_assert(COLUMNS_BYTES_MAX <= GROUP_PIECE_MAX,
	       "readers refuse a longer piece");

struct split_sink {
	struct columns columns;
	struct gzip_members pack;
	uint8_t *numbers; /* the numbers of a column as they are stored */
};

/*
 * Return the form of a column's piece; 0 if the group has no piece of the
 * column.
 */
static unsigned
form_of(const struct columns *c, enum column column)
{
	const unsigned width = columns_width(c, column);

	return width == 0 && column < COLUMN_ALWAYS ? 4 : width;
}

static void
put_column(struct sink *s, enum column column, unsigned form)
{
	struct split_sink *const p = s->ctx;
	const struct columns *const c = &p->columns;
	const bool is_address =
		column == COLUMN_ADDRESS || column == COLUMN_OLD_ADDRESS;

	for (size_t i = 0; i < c->count; i++) {
		const uint64_t raw = columns_raw(c, column, i, form);

		if (form == 4)
			put_be32(p->numbers + 4 * i, (uint32_t)raw);
		else
			put_be64(p->numbers + 8 * i, raw);
	}
	group_put_piece(s, &p->pack, SPLIT_COLUMN(column), form,
			is_address && form == 4 ? c->base : 0, p->numbers,
			c->count * form);
}

static void
put_group(struct sink *s)
{
	struct split_sink *const p = s->ctx;
	struct columns *const c = &p->columns;
	unsigned piece_count = 1;
	unsigned form[COLUMN_COUNT];

	columns_choose_base(c);
	for (unsigned i = 0; i < COLUMN_COUNT; i++) {
		form[i] = form_of(c, i);
		piece_count += form[i] != 0;
	}
	piece_count += c->bytes_used != 0;
	group_put_header(s, (uint32_t)c->count, piece_count);
	group_put_piece(s, &p->pack, SPLIT_TAGS, SPLIT_FORM_BYTES, 0, c->tags,
			c->count);
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		if (form[i] != 0)
			put_column(s, i, form[i]);
	if (c->bytes_used != 0)
		group_put_piece(s, &p->pack, SPLIT_BYTES, SPLIT_FORM_BYTES, 0,
				c->bytes, c->bytes_used);
	columns_reset(c);
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct split_sink *const p = s->ctx;

	for (size_t i = 0; i < n; i++) {
		columns_put(&p->columns, &records[i]);
		if (columns_are_full(&p->columns))
			put_group(s);
	}
	return s->out.status;
}

static enum hatf_status
finish(struct sink *s)
{
	struct split_sink *const p = s->ctx;

	if (p->columns.count != 0)
		put_group(s);
	group_put_header(s, 0, 0);
	return s->out.status;
}

static enum hatf_status
open_sink(struct sink *s)
{
	struct split_sink *const p = calloc(1, sizeof(*p));

	s->ctx = p;
	if (p == NULL || columns_init(&p->columns, GROUP_RECORDS) != HATF_OK)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	p->numbers = malloc((size_t)GROUP_RECORDS * 8);
	if (p->numbers == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	outfile_bytes(&s->out, SPLIT_MAGIC, GROUP_MAGIC_NBYTES);
	s->offset = GROUP_MAGIC_NBYTES;
	return group_check_level(s);
}

static void
close_sink(struct sink *s)
{
	struct split_sink *const p = s->ctx;

	if (p == NULL)
		return;
	columns_fini(&p->columns);
	gzip_members_fini(&p->pack);
	free(p->numbers);
	free(p);
}

const struct sink_ops split_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
