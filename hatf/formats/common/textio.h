/* SPDX-License-Identifier: MIT */
/*
 * textio.h - shared by the line-based formats: ascii, csv and json
 *
 * Reading: take one line at a time from the window and parse it in place.
 * Bytes decoded from hexadecimal digits or escapes overwrite them, and the
 * record points there.  A line without a line end is not a line: the trace is
 * truncated there.
 *
 * Writing: put numbers and escapes into the outfile.
 *
 * One thread uses a source or an outfile.
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
	TEXTIO_TEXT, /* of a comment */
};
#define TEXTIO_COLUMN_COUNT 8

/* "size", "address", "old_address", ...: for headers, keys and errors. */
extern const char *const textio_column_names[TEXTIO_COLUMN_COUNT];

/* Return the column with this name, or -1. */
int textio_find_column(const uint8_t *name, size_t nbytes);

/* Return the columns of a tag, 0 to 10, as bits '1 << column'. */
unsigned textio_columns(unsigned tag);

/* Return the columns that the options do not drop, as bits. */
unsigned textio_kept_columns(const struct hatf_writer_options *options);

/* ---------------------------------------------------------------- reading */

/* Bytes of the window; the owner may overwrite them. */
struct textio_cell {
	uint8_t *start, *end;
};

/*
 * Parse a line, without its line end.  Return NULL, or the static name of the
 * malformed part; if source_stop() was called, its error prevails.  The byte at
 * line.end is a line end, so scanning digits needs no other bound.
 *
 * '*is_record_ret' is true on entry; set it to false for a line that is not a
 * record.
 */
typedef const char *textio_parse(struct source *s, struct textio_cell line,
				 struct hatf_record *rec, bool *is_record_ret);

/*
 * For source_ops.open and .close: allocate s->ctx, 'nbytes' of zeros, and free
 * it.  Errors: HATF_NO_MEMORY.
 */
enum hatf_status textio_open(struct source *s, size_t nbytes);
void textio_close(struct source *s);

/*
 * Return the next line in '*line_ret', for a source that parses lines itself.
 * The source then advances window.next past the line.  Without 'may_move', use
 * only bytes already in the window.  Returns false if there is no whole line:
 * after source_stop(), except when 'may_move' is false.
 */
bool textio_line(struct source *s, bool may_move, struct textio_cell *line_ret);

/* For source_ops.read: parse each line with 'parse'. */
size_t textio_read(struct source *s, textio_parse *parse,
		   struct hatf_record *records, size_t max);

/*
 * Parse the number at '*next', decimal or hexadecimal with "0x".  Advance
 * '*next' to the first byte that is not a digit.  Returns false if there is no
 * number or it exceeds 64 bits.
 */
bool textio_number(uint8_t **next, uint64_t *n_ret);

/*
 * Return true if the value of 'key' in a comment is a number and nothing else.
 */
bool textio_find_number(const struct hatf_record *rec, const char *key,
			uint64_t *n_ret);

/* Decode hexadecimal digits in place.  Returns false if they are malformed. */
bool textio_unhex(struct textio_cell *cell);

/* Decode \xHH in place; any other backslash stands for itself. */
void textio_unescape(struct textio_cell *cell);

/* The cells of a record; 'start' is NULL where one is missing. */
struct textio_row {
	struct textio_cell tag, cells[TEXTIO_COLUMN_COUNT];
};

/*
 * Make a record of a row.  Every column of the tag that is in 'kept' must be
 * present, except attributes; columns that the tag does not have must be
 * absent.  The text is taken as it is.  Returns NULL or the name of the
 * offending column.
 */
const char *textio_record(struct textio_row *row, unsigned kept,
			  struct hatf_record *rec);

/* ---------------------------------------------------------------- writing */

/* Longest number in bytes. */
#define TEXTIO_NUMBER_MAX 20

/* Write a number at 'p' and return its end. */
uint8_t *textio_put_u64(uint8_t *p, uint64_t n);
uint8_t *textio_put_hex(uint8_t *p, uint64_t n); /* with "0x" */

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
 * 'quoted' is for a csv cell in double quotes: double each '"', and also
 * replace a character that makes a spreadsheet see a formula.  Otherwise make
 * the text ASCII: replace all bytes from 0x7f on.
 */
void textio_write_escaped(struct outfile *o, const uint8_t *s, size_t nbytes,
			  bool quoted);

/*
 * Return the length of the UTF-8 character at 's' in bytes, or 0 if there is
 * none.
 */
size_t textio_utf8(const uint8_t *s, size_t nbytes);

/* Return the code point of the UTF-8 character of 'length' bytes at 's'. */
uint32_t textio_code_point(const uint8_t *s, size_t length);

/*
 * Return true if a terminal acts on this character instead of showing it: the
 * control characters of both ranges, and the separators and marks that end
 * lines or change the direction of writing.
 */
bool textio_is_terminal_control(uint32_t code);

#endif /* HATF_TEXTIO_H */
