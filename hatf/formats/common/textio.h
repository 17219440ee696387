/* SPDX-License-Identifier: MIT */
/*
 * textio.h - read and write lines, numbers and escapes, for formats with text
 *
 * Reading: take one line at a time from the window and parse it in place.  In
 * the window, decoded bytes overwrite the hexadecimal digits or escapes from
 * which they were decoded, and the record points to the decoded bytes.  If the
 * last line has no line end, the trace is truncated.
 *
 * Writing: put numbers and escapes into the outfile.
 *
 * Only one thread may use a source or an outfile.
 */
#ifndef HATF_TEXTIO_H
#define HATF_TEXTIO_H

#include "hatf/formats/common/format.h"

/* The fields of a record besides the tag, in the order of the csv columns. */
enum textio_column {
	TEXTIO_SIZE,
	TEXTIO_ADDRESS,
	TEXTIO_OLD_ADDRESS,
	TEXTIO_THREAD,
	TEXTIO_HEAP,
	TEXTIO_TIME,
	TEXTIO_ATTRIBUTES,
	TEXTIO_TEXT, /* the text of a comment record */
};
#define TEXTIO_COLUMN_COUNT 8

/*
 * The names of the columns, such as "size" and "address".  They appear in
 * header rows, as keys, and in errors.
 */
extern const char *const textio_column_names[TEXTIO_COLUMN_COUNT];

/* Return the column with this name, or -1. */
int textio_find_column(const uint8_t *name, size_t nbytes);

/*
 * Return the columns that a record of this tag (0 to 10) has, as bits '1 <<
 * column'.
 */
unsigned textio_columns(unsigned tag);

/* Return the columns that the options do not omit, as bits '1 << column'. */
unsigned textio_kept_columns(const struct hatf_writer_options *options);

/* ---------------------------------------------------------------- reading */

/* Bytes in the window; the function that parses them may overwrite them. */
struct textio_cell {
	uint8_t *start, *end;
};

/*
 * Parse a line, without its line end.  Return NULL if the line is well-formed,
 * else the static name of the malformed part.  For a malformed line,
 * textio_read() stops the source with an error that has this name, unless the
 * parser has already called source_stop().  The byte at line.end is a line end,
 * so scanning digits needs no other bound.
 *
 * '*is_record_ret' is true on entry; set it to false for a line that is not a
 * record.
 */
typedef const char *textio_parse(struct source *s, struct textio_cell line,
				 struct hatf_record *rec, bool *is_record_ret);

/*
 * Call textio_open() in source_ops.open: it allocates 'nbytes' zeroed bytes for
 * s->ctx.  Use textio_close(), which frees these bytes, as source_ops.close.
 * Errors: HATF_NO_MEMORY.
 */
enum hatf_status textio_open(struct source *s, size_t nbytes);
void textio_close(struct source *s);

/*
 * Return the next line in '*line_ret', for a source that parses lines itself.
 * After parsing the line, the source must advance window.next past it.  If
 * 'may_move' is false, use only bytes that are in the window.  Return false if
 * there is no complete line; in this case, if 'may_move' is true, textio_line()
 * has called source_stop().
 */
bool textio_line(struct source *s, bool may_move, struct textio_cell *line_ret);

/* Use this in source_ops.read: parse each line with 'parse'. */
size_t textio_read(struct source *s, textio_parse *parse,
		   struct hatf_record *records, size_t max);

/*
 * Parse the number at '*next', decimal or hexadecimal with "0x".  Advance
 * '*next' to the first byte that is not a digit.  Return false if there is no
 * number, or if it exceeds 64 bits.
 */
bool textio_number(uint8_t **next, uint64_t *n_ret);

/*
 * Is the value of 'key' in a comment a number, without other characters?  If
 * so, store the number.
 */
bool textio_find_number(const struct hatf_record *rec, const char *key,
			uint64_t *n_ret);

/* Decode hexadecimal digits in place.  Return false if they are malformed. */
bool textio_unhex(struct textio_cell *cell);

/* Decode each \xHH in place; any other backslash is an ordinary character. */
void textio_unescape(struct textio_cell *cell);

/* The cells of a record.  If a cell is missing, its 'start' is NULL. */
struct textio_row {
	struct textio_cell tag, cells[TEXTIO_COLUMN_COUNT];
};

/*
 * Make a record from a row.  'kept' has columns as bits '1 << column'.  Of the
 * columns that the tag has (textio_columns()), those in 'kept' must be present,
 * except attributes.  Columns that the tag does not have must be absent.  The
 * cell of column TEXTIO_TEXT must already be decoded.  Return NULL, or the name
 * of the invalid column.
 */
const char *textio_record(struct textio_row *row, unsigned kept,
			  struct hatf_record *rec);

/* ---------------------------------------------------------------- writing */

/* Maximum number of decimal digits of a number of 64 bits. */
#define TEXTIO_NUMBER_MAX 20

/* Write a number at 'p' and return its end. */
uint8_t *textio_put_u64(uint8_t *p, uint64_t n);
/* Write "0x" and hexadecimal digits at 'p' and return their end. */
uint8_t *textio_put_hex(uint8_t *p, uint64_t n);

static inline uint8_t *
textio_put_bytes(uint8_t *p, const char *s, size_t nbytes)
{
	memcpy(p, s, nbytes);
	return p + nbytes;
}

/* Write bytes as hexadecimal digits. */
void textio_write_hex(struct outfile *o, const uint8_t *bytes, size_t nbytes);

/*
 * Write a text.  Replace '\', bytes that are not UTF-8 and terminal controls
 * (textio_is_terminal_control()) by \xHH, byte by byte.
 *
 * If 'quoted' is set, the text is a csv cell, which the caller encloses in
 * double quotes: double each '"', and also replace a character that makes a
 * spreadsheet see a formula.  Otherwise make the text ASCII: replace all bytes
 * from 0x7f on.
 */
void textio_write_escaped(struct outfile *o, const uint8_t *s, size_t nbytes,
			  bool quoted);

/*
 * Return the length in bytes of the UTF-8 character at 's'; 0 if the bytes are
 * not a valid character.
 */
size_t textio_utf8(const uint8_t *s, size_t nbytes);

/* Return the code point of the UTF-8 character of 'length' bytes at 's'. */
uint32_t textio_code_point(const uint8_t *s, size_t length);

/*
 * Does a terminal act on this character instead of showing it?  Such characters
 * are the control characters (C0, DEL and C1), and the separators and marks
 * that end lines or change the direction of writing.
 */
bool textio_is_terminal_control(uint32_t code);

#endif /* HATF_TEXTIO_H */
