/* SPDX-License-Identifier: MIT */
/*
 * textio.h - what the formats of lines share: ascii, csv and json
 *
 * Reading: a line at a time out of the window, where it is taken apart in place;
 * bytes that are written as hexadecimal digits or escapes are put back over them,
 * and the record points to that.  A line that has no end is no line: the trace was
 * cut off there.
 *
 * Writing: numbers and escapes into the outfile.
 */
#ifndef HATF_TEXTIO_H
#define HATF_TEXTIO_H

#include "hatf/formats/common/format.h"

/* What a record has besides its tag, in the order of the columns of csv. */
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

/* "size", "address", "old_address", ...: in headers, keys and errors. */
extern const char *const textio_column_names[TEXTIO_COLUMN_COUNT];

/* The column with this name, or -1. */
int textio_find_column(const uint8_t *name, size_t nbytes);

/* The columns of a tag, 0 to 10, as bits '1 << column'. */
unsigned textio_columns(unsigned tag);

/* The columns that are not left out. */
unsigned textio_kept_columns(const struct hatf_writer_options *options);

/* ---------------------------------------------------------------- reading */

/* Bytes of the window, which may be written to. */
struct textio_cell {
	uint8_t *start, *end;
};

/*
 * Take a line, without its end, apart.  Returns NULL, or the static name of what
 * is malformed; source_stop() may have been told another error.  The byte at
 * line.end is a line end: digits need no other guard.
 * '*is_record_ret', true before, is set to false for a line that is none.
 */
typedef const char *textio_parse(struct source *s, struct textio_cell line,
				 struct hatf_record *rec, bool *is_record_ret);

/* For source_ops.open and .close: s->ctx is 'nbytes' of zeros. */
enum hatf_status textio_open(struct source *s, size_t nbytes);
void textio_close(struct source *s);

/*
 * The next line, for a source that takes lines itself and goes on to the next one
 * when it has.  Unless the window 'may_move', the line must be there already.
 * False if it is not, or if there are no more, and reading has stopped.
 */
bool textio_line(struct source *s, bool may_move, struct textio_cell *line_ret);

/* For source_ops.read: each line by 'parse'. */
size_t textio_read(struct source *s, textio_parse *parse,
		   struct hatf_record *records, size_t max);

/*
 * The number that begins at '*next', decimal or hexadecimal with "0x"; false if
 * there is none, or if it does not fit 64 bits.  Stops at what is no digit.
 */
bool textio_number(uint8_t **next, uint64_t *n_ret);

/* Such a number alone is the value of 'key' in a comment; false if it is not. */
bool textio_find_number(const struct hatf_record *rec, const char *key,
			uint64_t *n_ret);

/* Make bytes of hexadecimal digits, in place. */
bool textio_unhex(struct textio_cell *cell);

/* Undo \xHH, in place; another backslash stands for itself. */
void textio_unescape(struct textio_cell *cell);

/* A record's cells; 'start' is NULL where there is none. */
struct textio_row {
	struct textio_cell tag, cells[TEXTIO_COLUMN_COUNT];
};

/*
 * Make a record of a row.  Each column in 'wanted' that the tag has must be there,
 * but for attributes, and no column that it has not.  The text is taken as it is.
 * Returns NULL or the name of the column at fault.
 */
const char *textio_record(struct textio_row *row, unsigned kept,
			  struct hatf_record *rec);

/* ---------------------------------------------------------------- writing */

/* The most that a number takes. */
#define TEXTIO_NUMBER_MAX 20

/* Write a number at 'p' and return where it ends. */
uint8_t *textio_put_u64(uint8_t *p, uint64_t n);
uint8_t *textio_put_hex(uint8_t *p, uint64_t n); /* with "0x" */

static inline uint8_t *
textio_put_bytes(uint8_t *p, const char *s, size_t nbytes)
{
	memcpy(p, s, nbytes);
	return p + nbytes;
}

/* Bytes as hexadecimal digits. */
void textio_write_hex(struct outfile *o, const uint8_t *bytes, size_t nbytes);

/*
 * Write a text.  A '\', bytes that are not UTF-8 and characters that steer a
 * terminal (textio_is_terminal_control()) become \xHH, byte by byte.  If 'quoted', for a
 * cell of csv between double quotes, '"' is doubled, and a character that a
 * spreadsheet would take for the beginning of a formula becomes \xHH, too.  If
 * not, the text becomes ASCII: all bytes from 0x7f on become \xHH.
 */
void textio_write_escaped(struct outfile *o, const uint8_t *s, size_t nbytes,
			  bool quoted);

/* The length of the UTF-8 character at 's'; 0: it is none. */
size_t textio_utf8(const uint8_t *s, size_t nbytes);

/* The number of the UTF-8 character of 'length' bytes at 's'. */
uint32_t textio_code_point(const uint8_t *s, size_t length);

/*
 * Does a terminal do something other than show this character?  So do the
 * control characters of both ranges, and the separators and marks that end
 * lines or turn the direction of writing.
 */
bool textio_is_terminal_control(uint32_t code);

#endif /* HATF_TEXTIO_H */
