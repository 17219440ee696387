/* SPDX-License-Identifier: MIT */
/*
 * csv.c - one record per row, for spreadsheets and data frames (FORMATS "csv")
 *
 *	tag,size,address,old_address,thread,heap,time,attributes,text
 *	alloc,24,0x55d0c0,,0,0,17,01,
 *	comment,,,,,,,,"it says ""phase 2"""
 *
 * The header row names the columns, 'tag' first.  Every row has a cell for each
 * column.  The cell is empty if records with this tag do not have the column.
 */
#include "hatf/formats/common/textio.h"

static const char tag_column[] = "tag";
#define TAG_NBYTES (sizeof(tag_column) - 1)

struct csv {
	/* the columns after the tag, in the order of the file */
	unsigned columns[TEXTIO_COLUMN_COUNT];
	unsigned count;
	unsigned kept; /* the columns in 'columns', as bits '1 << column' */
};

/* ---------------------------------------------------------------- reading */

bool
csv_recognize(const uint8_t *bytes, size_t nbytes)
{
	const size_t quoted = nbytes > 0 && bytes[0] == '"';

	return nbytes > TAG_NBYTES + 2 * quoted &&
	       memcmp(bytes + quoted, tag_column, TAG_NBYTES) == 0 &&
	       bytes[TAG_NBYTES + 2 * quoted] == ',';
}

/*
 * Read a quoted cell; 'next' is after its first quote.  Replace doubled quotes
 * by single ones in place.  Return false if the closing quote is missing.
 */
static bool
take_quoted(uint8_t **next, uint8_t *end, struct textio_cell *cell)
{
	uint8_t *out = *next;

	for (uint8_t *p = out; p != end; p++) {
		if (*p == '"') {
			if (p + 1 == end || p[1] != '"') {
				cell->end = out;
				*next = p + 1;
				return true;
			}
			p++;
		}
		*out++ = *p;
	}
	return false;
}

/*
 * Read the cell at '*next' and advance '*next' to the comma or line end after
 * it.
 */
static bool
take_cell(uint8_t **next, uint8_t *end, struct textio_cell *cell)
{
	uint8_t *p = *next;

	if (p != end && *p == '"') {
		++*next;
		cell->start = *next;
		return take_quoted(next, end, cell) &&
		       (*next == end || **next == ',');
	}
	cell->start = p;
	while (p != end && *p != ',')
		p++;
	cell->end = p;
	*next = p;
	return true;
}

/* Parse the header row. */
static const char *
parse_names(struct csv *c, struct textio_cell line)
{
	struct textio_cell cell;
	uint8_t *next = line.start;

	if (!take_cell(&next, line.end, &cell))
		return tag_column;
	while (next != line.end) {
		int column;

		next++;
		if (!take_cell(&next, line.end, &cell))
			return "columns";
		column = textio_find_column(cell.start,
					    (size_t)(cell.end - cell.start));
		if (column < 0 || (c->kept >> column & 1) != 0)
			return "columns";
		c->kept |= 1u << column;
		c->columns[c->count++] = (unsigned)column;
	}
	return NULL;
}

/* Split a row into cells.  Return NULL, or the name of the malformed column. */
static const char *
split_row(const struct csv *c, struct textio_cell line, struct textio_row *row)
{
	uint8_t *next = line.start;

	if (!take_cell(&next, line.end, &row->tag))
		return tag_column;
	for (unsigned i = 0; i < c->count; i++) {
		struct textio_cell *const cell = &row->cells[c->columns[i]];

		if (next == line.end)
			return textio_column_names[c->columns[i]];
		next++;
		if (!take_cell(&next, line.end, cell))
			return textio_column_names[c->columns[i]];
		/*
		 * An empty cell counts as missing.  parse_line() accepts a
		 * comment whose text is missing, because a comment may have no
		 * text.
		 */
		if (cell->start == cell->end)
			cell->start = NULL;
	}
	return next == line.end ? NULL : "columns";
}

static const char *
parse_line(struct source *s, struct textio_cell line, struct hatf_record *rec,
	   bool *is_record_ret)
{
	const unsigned text = 1u << TEXTIO_TEXT;
	struct csv *const c = s->ctx;
	struct textio_row row = { .tag = { NULL, NULL } };
	const char *field;

	if (s->line == 1) {
		*is_record_ret = false;
		return parse_names(c, line);
	}
	field = split_row(c, line, &row);
	if (field != NULL)
		return field;
	if (row.cells[TEXTIO_TEXT].start != NULL)
		textio_unescape(&row.cells[TEXTIO_TEXT]);
	return textio_record(&row, c->kept & ~text, rec);
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	return textio_read(s, parse_line, records, max);
}

static enum hatf_status
open_source(struct source *s)
{
	return textio_open(s, sizeof(struct csv));
}

/* ---------------------------------------------------------------- writing */

/* Maximum length of a row in bytes, not counting attributes and text. */
#define ROW_NBYTES (20 + 6 * (1 + TEXTIO_NUMBER_MAX) + 4)

/* Put the cell of a number; leave the cell empty if 'has' is false. */
static uint8_t *
put_number(uint8_t *p, bool has, uint64_t n)
{
	*p++ = ',';
	return has ? textio_put_u64(p, n) : p;
}

static uint8_t *
put_address(uint8_t *p, bool has, uint64_t n)
{
	*p++ = ',';
	return has ? textio_put_hex(p, n) : p;
}

/* Put the cells of attributes and text, and the end of the row. */
static void
put_bytes(struct sink *s, const struct hatf_record *rec, unsigned kept)
{
	struct outfile *const o = &s->out;
	const bool is_comment = rec->tag == HATF_COMMENT;

	if (kept >> TEXTIO_ATTRIBUTES & 1) {
		outfile_bytes(o, ",", 1);
		if (!is_comment)
			textio_write_hex(o, rec->attributes,
					 rec->attributes_nbytes);
	}
	if (kept >> TEXTIO_TEXT & 1) {
		outfile_bytes(o, ",", 1);
		if (is_comment) {
			outfile_bytes(o, "\"", 1);
			textio_write_escaped(o, rec->attributes,
					     rec->attributes_nbytes, true);
			outfile_bytes(o, "\"", 1);
		}
	}
	outfile_bytes(o, "\n", 1);
}

static void
put_record(struct sink *s, const struct hatf_record *rec, unsigned kept)
{
	const unsigned has = textio_columns(rec->tag);
	const char *const name = hatf_tag_name(rec->tag);
	uint8_t *const start = outfile_room(&s->out, ROW_NBYTES);
	uint8_t *p = textio_put_bytes(start, name, strlen(name));

	p = put_number(p, has >> TEXTIO_SIZE & 1, rec->size);
	p = put_address(p, has >> TEXTIO_ADDRESS & 1, rec->address);
	p = put_address(p, has >> TEXTIO_OLD_ADDRESS & 1, rec->old_address);
	if (kept >> TEXTIO_THREAD & 1)
		p = put_number(p, has >> TEXTIO_THREAD & 1, rec->thread);
	if (kept >> TEXTIO_HEAP & 1)
		p = put_number(p, has >> TEXTIO_HEAP & 1, rec->heap);
	if (kept >> TEXTIO_TIME & 1)
		p = put_number(p, has >> TEXTIO_TIME & 1, rec->time);
	if (rec->attributes_nbytes != 0 || rec->tag == HATF_COMMENT) {
		outfile_advance(&s->out, (size_t)(p - start));
		put_bytes(s, rec, kept);
		return;
	}
	if (kept >> TEXTIO_ATTRIBUTES & 1)
		*p++ = ',';
	if (kept >> TEXTIO_TEXT & 1)
		*p++ = ',';
	*p++ = '\n';
	outfile_advance(&s->out, (size_t)(p - start));
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	const unsigned kept = textio_kept_columns(&s->options);

	for (size_t i = 0; i < n; i++)
		put_record(s, &records[i], kept);
	return HATF_OK;
}

/* Write the header row. */
static enum hatf_status
open_sink(struct sink *s)
{
	const unsigned kept = textio_kept_columns(&s->options);

	outfile_bytes(&s->out, tag_column, TAG_NBYTES);
	for (unsigned i = 0; i < TEXTIO_COLUMN_COUNT; i++) {
		if ((kept >> i & 1) == 0)
			continue;
		outfile_bytes(&s->out, ",", 1);
		outfile_bytes(&s->out, textio_column_names[i],
			      strlen(textio_column_names[i]));
	}
	outfile_bytes(&s->out, "\n", 1);
	return HATF_OK;
}

const struct source_ops csv_source = {
	.open = open_source,
	.read = read_records,
	.close = textio_close,
};

const struct sink_ops csv_sink = {
	.open = open_sink,
	.write = write_records,
};
