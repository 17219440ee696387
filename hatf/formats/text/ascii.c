/* SPDX-License-Identifier: MIT */
/*
 * ascii.c - one record per line, in numbers (FORMATS "ascii")
 *
 * 	10 HATF ascii thread heap time attributes
 * 	0 24 0x55d0c0 0 0 17 01
 * 	3 64 0x55d0c0 0x55e0f0 0 0 18
 * 	1 0x55d0c0 0 0 18
 * 	10 a comment
 *
 * A line begins with the tag and the columns that belong to this tag: none,
 * some or all of size, old address and address.  Additional columns come after
 * these; the first line of the file names the additional columns.  Without such
 * a first line, there are no additional columns.  The first line is itself a
 * comment (tag 10), so a script that looks at tags needs no special case.
 */
#include "hatf/formats/common/textio.h"

/* How the first line begins; the names of columns follow. */
static const char first_line[] = "10 HATF ascii";
#define FIRST_NBYTES (sizeof(first_line) - 1)

/* How many of the additional columns are numbers: thread, heap and time. */
#define NUMBER_COUNT 3

struct ascii {
	/*
	 * the columns of numbers (thread, heap, time) that the lines have, in
	 * the order of the first line
	 */
	unsigned order[NUMBER_COUNT];
	unsigned count;
	bool attributes;
};

/* ---------------------------------------------------------------- reading */

bool
ascii_recognize(const uint8_t *bytes, size_t nbytes)
{
	/*
	 * A line begins with a tag in decimal digits and a blank.  No HATF
	 * stream begins with a digit, because the ASCII code of a digit is not
	 * a tag of HATF.
	 */
	if (nbytes >= 3 && bytes[0] == '1' && bytes[1] == '0')
		return bytes[2] == ' ';
	return nbytes >= 2 && bytes[0] >= '0' && bytes[0] <= '9' &&
	       bytes[1] == ' ';
}

static uint8_t *
skip_blanks(uint8_t *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* Parse the number of a column, after at least one blank. */
static bool
next_number(uint8_t **next, uint64_t *n_ret)
{
	uint8_t *p = skip_blanks(*next);

	if (p == *next || !textio_number(&p, n_ret))
		return false;
	*next = p;
	return *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
}

/*
 * Does the line name columns?  A file that was joined from several traces has
 * several such lines.
 */
static bool
names_columns(struct textio_cell line)
{
	const size_t nbytes = (size_t)(line.end - line.start);

	return nbytes >= FIRST_NBYTES &&
	       memcmp(line.start, first_line, FIRST_NBYTES) == 0 &&
	       (nbytes == FIRST_NBYTES || line.start[FIRST_NBYTES] == ' ' ||
		line.start[FIRST_NBYTES] == '\t');
}

/* Parse the names of columns in a line that begins as 'first_line'. */
static const char *
parse_first(struct ascii *a, struct textio_cell line)
{
	unsigned seen = 0;

	a->count = 0;
	a->attributes = false;
	for (uint8_t *p = line.start + FIRST_NBYTES;;) {
		struct textio_cell name = { skip_blanks(p), NULL };
		int column;

		for (p = name.start; p != line.end && *p != ' ' && *p != '\t';)
			p++;
		if (p == name.start)
			return NULL;
		column = textio_find_column(name.start,
					    (size_t)(p - name.start));
		if (column < TEXTIO_THREAD || column > TEXTIO_ATTRIBUTES ||
		    (seen >> column & 1) != 0 || a->attributes)
			return "columns";
		seen |= 1u << column;
		if (column == TEXTIO_ATTRIBUTES)
			a->attributes = true;
		else
			a->order[a->count++] = (unsigned)column;
	}
}

static const char *
parse_comment(struct textio_cell line, struct hatf_record *rec)
{
	/* The text begins after one blank, if there is a text. */
	if (line.start != line.end)
		line.start++;
	textio_unescape(&line);
	if (line.end - line.start > UINT16_MAX)
		return "text";
	rec->attributes = line.start;
	rec->attributes_nbytes = (uint32_t)(line.end - line.start);
	return NULL;
}

/* Parse the additional columns, which the first line names. */
static const char *
parse_further(const struct ascii *a, struct textio_cell rest,
	      struct hatf_record *rec)
{
	uint64_t values[TEXTIO_COLUMN_COUNT] = { 0 };

	for (unsigned i = 0; i < a->count; i++)
		if (!next_number(&rest.start, &values[a->order[i]]))
			return textio_column_names[a->order[i]];
	rec->thread = values[TEXTIO_THREAD];
	rec->heap = values[TEXTIO_HEAP];
	rec->time = values[TEXTIO_TIME];
	if (rec->heap != 0 &&
	    (textio_columns(rec->tag) >> TEXTIO_HEAP & 1) == 0)
		return "heap";
	rest.start = skip_blanks(rest.start);
	if (rest.start == rest.end)
		return NULL;
	/*
	 * textio_unhex() refuses blanks at the end of the line, because they
	 * are not digits.
	 */
	if (!a->attributes || !textio_unhex(&rest) ||
	    rest.end - rest.start > UINT16_MAX)
		return "attributes";
	rec->attributes = rest.start;
	rec->attributes_nbytes = (uint32_t)(rest.end - rest.start);
	return NULL;
}

static const char *
parse_line(struct source *s, struct textio_cell line, struct hatf_record *rec,
	   bool *is_record_ret)
{
	uint8_t *p = line.start;
	unsigned has;
	uint64_t tag;

	if (names_columns(line)) {
		*is_record_ret = false;
		return parse_first(s->ctx, line);
	}
	if (!textio_number(&p, &tag) || tag > HATF_COMMENT ||
	    (p != line.end && *p != ' ' && *p != '\t'))
		return "tag";
	rec->tag = (uint8_t)tag;
	line.start = p;
	if (tag == HATF_COMMENT)
		return parse_comment(line, rec);
	has = textio_columns(rec->tag);
	if ((has >> TEXTIO_SIZE & 1) && !next_number(&line.start, &rec->size))
		return "size";
	if ((has >> TEXTIO_OLD_ADDRESS & 1) &&
	    !next_number(&line.start, &rec->old_address))
		return "old_address";
	if ((has >> TEXTIO_ADDRESS & 1) &&
	    !next_number(&line.start, &rec->address))
		return "address";
	return parse_further(s->ctx, line, rec);
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	return textio_read(s, parse_line, records, max);
}

static enum hatf_status
open_source(struct source *s)
{
	return textio_open(s, sizeof(struct ascii));
}

/* ---------------------------------------------------------------- writing */

/* The longest line without attributes, in bytes: a tag and six numbers. */
#define LINE_NBYTES (2 + 6 * (1 + TEXTIO_NUMBER_MAX) + 1)

static uint8_t *
put_number(uint8_t *p, uint64_t n)
{
	*p++ = ' ';
	return textio_put_u64(p, n);
}

static uint8_t *
put_address(uint8_t *p, uint64_t n)
{
	*p++ = ' ';
	return textio_put_hex(p, n);
}

static void
put_comment(struct sink *s, const struct hatf_record *rec)
{
	const uint8_t *text = rec->attributes;
	size_t nbytes = rec->attributes_nbytes;

	outfile_bytes(&s->out, "10 ", 3);
	/*
	 * If the text of a comment looks like the first line of a file, escape
	 * the first byte of the text.
	 */
	if (nbytes >= FIRST_NBYTES - 3 &&
	    memcmp(text, first_line + 3, FIRST_NBYTES - 3) == 0) {
		outfile_bytes(&s->out, "\\x48", 4);
		text++;
		nbytes--;
	}
	textio_write_escaped(&s->out, text, nbytes, false);
	outfile_bytes(&s->out, "\n", 1);
}

static void
put_record(struct sink *s, const struct hatf_record *rec, unsigned kept)
{
	const unsigned has = textio_columns(rec->tag);
	uint8_t *const start = outfile_room(&s->out, LINE_NBYTES);
	uint8_t *p = start;

	*p++ = (uint8_t)('0' + rec->tag);
	if (has >> TEXTIO_SIZE & 1)
		p = put_number(p, rec->size);
	if (has >> TEXTIO_OLD_ADDRESS & 1)
		p = put_address(p, rec->old_address);
	if (has >> TEXTIO_ADDRESS & 1)
		p = put_address(p, rec->address);
	if (kept >> TEXTIO_THREAD & 1)
		p = put_number(p, rec->thread);
	if (kept >> TEXTIO_HEAP & 1)
		p = put_number(p, rec->heap);
	if (kept >> TEXTIO_TIME & 1)
		p = put_number(p, rec->time);
	if (rec->attributes_nbytes == 0) {
		*p++ = '\n';
		outfile_advance(&s->out, (size_t)(p - start));
		return;
	}
	*p++ = ' ';
	outfile_advance(&s->out, (size_t)(p - start));
	textio_write_hex(&s->out, rec->attributes, rec->attributes_nbytes);
	outfile_bytes(&s->out, "\n", 1);
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	const unsigned kept = textio_kept_columns(&s->options);

	for (size_t i = 0; i < n; i++)
		if (records[i].tag == HATF_COMMENT)
			put_comment(s, &records[i]);
		else
			put_record(s, &records[i], kept);
	return HATF_OK;
}

/* Write the first line. */
static enum hatf_status
open_sink(struct sink *s)
{
	const unsigned kept = textio_kept_columns(&s->options);

	outfile_bytes(&s->out, first_line, FIRST_NBYTES);
	for (unsigned i = TEXTIO_THREAD; i <= TEXTIO_ATTRIBUTES; i++) {
		if ((kept >> i & 1) == 0)
			continue;
		outfile_bytes(&s->out, " ", 1);
		outfile_bytes(&s->out, textio_column_names[i],
			      strlen(textio_column_names[i]));
	}
	outfile_bytes(&s->out, "\n", 1);
	return HATF_OK;
}

const struct source_ops ascii_source = {
	.open = open_source,
	.read = read_records,
	.close = textio_close,
};

const struct sink_ops ascii_sink = {
	.open = open_sink,
	.write = write_records,
};
