/* SPDX-License-Identifier: MIT */
/*
 * textio.c - see textio.h
 */
#include "hatf/formats/common/textio.h"

#include "hatf/codec/comment_text.h"

#include <stdlib.h>

/* How many bytes are converted to hexadecimal digits or escaped at a time. */
#define HEX_NBYTES 4096

static const char digits[] = "0123456789abcdef";

const char *const textio_column_names[TEXTIO_COLUMN_COUNT] = {
	[TEXTIO_SIZE] = "size",
	[TEXTIO_ADDRESS] = "address",
	[TEXTIO_OLD_ADDRESS] = "old_address",
	[TEXTIO_THREAD] = "thread",
	[TEXTIO_HEAP] = "heap",
	[TEXTIO_TIME] = "time",
	[TEXTIO_ATTRIBUTES] = "attributes",
	[TEXTIO_TEXT] = "text",
};

/*
 * Return the only column that can have this name, judged by the length and the
 * first letters of the name; -1 if there is none.  The caller must still
 * compare the whole name.
 */
static int
guess_column(const uint8_t *name, size_t nbytes)
{
	switch (nbytes == 0 ? 0 : name[0]) {
	case 's':
		return TEXTIO_SIZE;
	case 'a':
		return nbytes == 7 ? TEXTIO_ADDRESS : TEXTIO_ATTRIBUTES;
	case 'o':
		return TEXTIO_OLD_ADDRESS;
	case 'h':
		return TEXTIO_HEAP;
	case 't':
		if (nbytes != 4)
			return TEXTIO_THREAD;
		return name[1] == 'i' ? TEXTIO_TIME : TEXTIO_TEXT;
	default:
		return -1;
	}
}

int
textio_find_column(const uint8_t *name, size_t nbytes)
{
	const int i = guess_column(name, nbytes);

	return i >= 0 && strlen(textio_column_names[i]) == nbytes &&
			       memcmp(textio_column_names[i], name, nbytes) == 0
		       ? i
		       : -1;
}

unsigned
textio_columns(unsigned tag)
{
	const unsigned tail = 1u << TEXTIO_THREAD | 1u << TEXTIO_TIME |
			      1u << TEXTIO_ATTRIBUTES;
	const unsigned heap_tail = tail | 1u << TEXTIO_HEAP;

	switch (tag) {
	case HATF_ALLOC:
		return heap_tail | 1u << TEXTIO_SIZE | 1u << TEXTIO_ADDRESS;
	case HATF_FREE:
		return heap_tail | 1u << TEXTIO_ADDRESS;
	case HATF_CREATE_HEAP:
	case HATF_DESTROY_HEAP:
		return heap_tail;
	case HATF_CREATE_THREAD:
	case HATF_DESTROY_THREAD:
		return tail;
	case HATF_COMMENT:
		return 1u << TEXTIO_TEXT;
	default:
		return heap_tail | 1u << TEXTIO_SIZE | 1u << TEXTIO_ADDRESS |
		       1u << TEXTIO_OLD_ADDRESS;
	}
}

unsigned
textio_kept_columns(const struct hatf_writer_options *options)
{
	unsigned kept = (1u << TEXTIO_COLUMN_COUNT) - 1;

	if (options->drop & HATF_DROP_THREAD)
		kept &= ~(1u << TEXTIO_THREAD);
	if (options->drop & HATF_DROP_HEAP)
		kept &= ~(1u << TEXTIO_HEAP);
	if (options->drop & HATF_DROP_TIME)
		kept &= ~(1u << TEXTIO_TIME);
	if (options->drop & HATF_DROP_ATTRIBUTES)
		kept &= ~(1u << TEXTIO_ATTRIBUTES);
	/*
	 * Even if the options omit comments, keep their column unless the trace
	 * is 'bare', because the header and the trailer are comments, too.
	 */
	if (options->bare && (options->drop & HATF_DROP_COMMENTS))
		kept &= ~(1u << TEXTIO_TEXT);
	return kept;
}

/* ---------------------------------------------------------------- reading */

bool
textio_line(struct source *s, bool may_move, struct textio_cell *line_ret)
{
	struct input_window *const w = &s->window;
	/* how many bytes at the start of the window contain no line end */
	size_t seen = 0;

	for (;;) {
		const size_t left = input_window_left(w);
		uint8_t *const start = w->buf + (w->next - w->buf);
		uint8_t *const end = memchr(start + seen, '\n', left - seen);

		if (end != NULL) {
			*line_ret = (struct textio_cell){ start, end };
			return true;
		}
		seen = left;
		if (!may_move)
			return false;
		if (left == INPUT_WINDOW_NBYTES) {
			source_stop(s, HATF_LIMIT, "line");
			return false;
		}
		if (!input_window_more(w)) {
			source_stop_at_end(s, left, NULL);
			return false;
		}
	}
}

enum hatf_status
textio_open(struct source *s, size_t nbytes)
{
	s->ctx = calloc(1, nbytes);
	if (s->ctx == NULL)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	s->line = 1;
	return HATF_OK;
}

void
textio_close(struct source *s)
{
	free(s->ctx);
}

size_t
textio_read(struct source *s, textio_parse *parse, struct hatf_record *records,
	    size_t max)
{
	struct textio_cell line;
	size_t n = 0;

	/*
	 * The records of this call point into the window, so the window may
	 * move only before the first record.
	 */
	while (n < max && textio_line(s, n == 0, &line)) {
		const size_t nbytes = (size_t)(line.end - line.start) + 1;
		bool is_record = true;
		const char *field;

		if (line.end != line.start && line.end[-1] == '\r')
			line.end--;
		records[n] = (struct hatf_record){ .offset = s->offset };
		field = parse(s, line, &records[n], &is_record);
		if (field != NULL) {
			if (s->err.status == HATF_OK)
				source_stop(s, HATF_BAD_FIELD, field);
			break;
		}
		s->window.next += nbytes;
		s->offset += nbytes;
		s->line++;
		n += is_record;
	}
	return n;
}

static int
hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
get_hex(uint8_t **next, uint64_t *n_ret)
{
	uint8_t *p = *next;
	uint64_t n = 0;
	int value;

	while ((value = hex_value(*p)) >= 0) {
		if (n >> 60 != 0)
			return false;
		n = n << 4 | (unsigned)value;
		p++;
	}
	*n_ret = n;
	if (p == *next)
		return false;
	*next = p;
	return true;
}

bool
textio_number(uint8_t **next, uint64_t *n_ret)
{
	uint8_t *p = *next;
	uint64_t n = 0;

	if (p[0] == '0' && p[1] == 'x') {
		*next += 2;
		return get_hex(next, n_ret);
	}
	for (; *p >= '0' && *p <= '9'; p++) {
		const unsigned digit = *p - '0';

		/*
		 * A number of nineteen digits always fits in 64 bits, so check
		 * only from the twentieth digit on.
		 */
		if (p - *next >= 19 &&
		    (n > UINT64_MAX / 10 || n * 10 > UINT64_MAX - digit))
			return false;
		n = n * 10 + digit;
	}
	*n_ret = n;
	if (p == *next)
		return false;
	*next = p;
	return true;
}

bool
textio_find_number(const struct hatf_record *rec, const char *key,
		   uint64_t *n_ret)
{
	char value[24];
	uint8_t *next = (uint8_t *)value;

	return text_find((const char *)rec->attributes, rec->attributes_nbytes,
			 key, value, sizeof(value)) > 0 &&
	       textio_number(&next, n_ret) && *next == '\0';
}

/* Parse a cell that must be one number. */
static bool
cell_number(const struct textio_cell *cell, uint64_t *n_ret)
{
	uint8_t *next = cell->start;

	return textio_number(&next, n_ret) && next == cell->end;
}

/* Return the tag with this name or number; HATF_TAG_COUNT if there is none. */
static unsigned
tag_of(struct textio_cell cell)
{
	const size_t nbytes = (size_t)(cell.end - cell.start);
	uint64_t n;

	for (unsigned tag = 0; tag < HATF_METADATA; tag++) {
		const char *const name = hatf_tag_name(tag);

		/*
		 * Most names differ from the cell in the first letter, so
		 * compare this letter first.  If the cell is empty,
		 * '*cell.start' is the byte after the cell.  It is not a
		 * letter, so no name matches.
		 */
		if ((uint8_t)*name == *cell.start && strlen(name) == nbytes &&
		    memcmp(name, cell.start, nbytes) == 0)
			return tag;
	}
	return cell_number(&cell, &n) && n < HATF_METADATA ? (unsigned)n
							   : HATF_TAG_COUNT;
}

bool
textio_unhex(struct textio_cell *cell)
{
	uint8_t *out = cell->start;

	if ((cell->end - cell->start) % 2 != 0)
		return false;
	for (const uint8_t *p = cell->start; p != cell->end; p += 2) {
		const int high = hex_value(p[0]);
		const int low = hex_value(p[1]);

		if (high < 0 || low < 0)
			return false;
		*out++ = (uint8_t)(high << 4 | low);
	}
	cell->end = out;
	return true;
}

void
textio_unescape(struct textio_cell *cell)
{
	uint8_t *out =
		memchr(cell->start, '\\', (size_t)(cell->end - cell->start));

	if (out == NULL)
		return;
	for (const uint8_t *p = out; p != cell->end; out++) {
		const bool is_candidate =
			cell->end - p >= 4 && p[0] == '\\' && p[1] == 'x';
		const int high = is_candidate ? hex_value(p[2]) : -1;
		const int low = is_candidate ? hex_value(p[3]) : -1;

		if (high >= 0 && low >= 0) {
			*out = (uint8_t)(high << 4 | low);
			p += 4;
		} else {
			*out = *p++;
		}
	}
	cell->end = out;
}

/* Let the attributes of a record point to the bytes of a cell. */
static bool
set_attributes(struct hatf_record *rec, const struct textio_cell *cell)
{
	const size_t nbytes = (size_t)(cell->end - cell->start);

	if (nbytes > UINT16_MAX)
		return false;
	rec->attributes = cell->start;
	rec->attributes_nbytes = (uint32_t)nbytes;
	return true;
}

static bool
set_column(struct hatf_record *rec, unsigned column, struct textio_cell *cell)
{
	switch (column) {
	case TEXTIO_SIZE:
		return cell_number(cell, &rec->size);
	case TEXTIO_ADDRESS:
		return cell_number(cell, &rec->address);
	case TEXTIO_OLD_ADDRESS:
		return cell_number(cell, &rec->old_address);
	case TEXTIO_THREAD:
		return cell_number(cell, &rec->thread);
	case TEXTIO_HEAP:
		return cell_number(cell, &rec->heap);
	case TEXTIO_TIME:
		return cell_number(cell, &rec->time);
	case TEXTIO_ATTRIBUTES:
		return textio_unhex(cell) && set_attributes(rec, cell);
	default:
		return set_attributes(rec, cell);
	}
}

const char *
textio_record(struct textio_row *row, unsigned kept, struct hatf_record *rec)
{
	const unsigned optional = 1u << TEXTIO_ATTRIBUTES;
	unsigned has;

	rec->tag = row->tag.start == NULL ? HATF_TAG_COUNT
					  : (uint8_t)tag_of(row->tag);
	if (rec->tag == HATF_TAG_COUNT)
		return "tag";
	has = textio_columns(rec->tag);
	for (unsigned i = 0; i < TEXTIO_COLUMN_COUNT; i++) {
		const bool is_there = row->cells[i].start != NULL;

		if (is_there ? (has >> i & 1) == 0
			     : (has & kept & ~optional) >> i & 1)
			return textio_column_names[i];
		if (is_there && !set_column(rec, i, &row->cells[i]))
			return textio_column_names[i];
	}
	return NULL;
}

/* ---------------------------------------------------------------- writing */

uint8_t *
textio_put_u64(uint8_t *p, uint64_t n)
{
	uint8_t buf[TEXTIO_NUMBER_MAX];
	size_t start = sizeof(buf);

	for (; n >= 10; n /= 100) {
		const unsigned pair = (unsigned)(n % 100);

		start -= 2;
		buf[start] = (uint8_t)('0' + pair / 10);
		buf[start + 1] = (uint8_t)('0' + pair % 10);
	}
	/*
	 * The loop has written pairs of digits.  One digit is left if the
	 * number of digits is odd, as it is for the number 0.
	 */
	if (n != 0 || start == sizeof(buf))
		buf[--start] = (uint8_t)('0' + n);
	memcpy(p, buf + start, sizeof(buf) - start);
	return p + sizeof(buf) - start;
}

uint8_t *
textio_put_hex(uint8_t *p, uint64_t n)
{
	const size_t bits = 64u - (size_t)__builtin_clzll(n | 1);
	const size_t count = (bits + 3) / 4;

	p[0] = '0';
	p[1] = 'x';
	for (size_t i = count; i-- > 0; n >>= 4)
		p[2 + i] = (uint8_t)digits[n & 15];
	return p + 2 + count;
}

void
textio_write_hex(struct outfile *o, const uint8_t *bytes, size_t nbytes)
{
	while (nbytes != 0) {
		const size_t n = nbytes < HEX_NBYTES ? nbytes : HEX_NBYTES;
		uint8_t *p = outfile_room(o, 2 * n);

		for (size_t i = 0; i < n; i++) {
			*p++ = (uint8_t)digits[bytes[i] >> 4];
			*p++ = (uint8_t)digits[bytes[i] & 15];
		}
		outfile_advance(o, 2 * n);
		bytes += n;
		nbytes -= n;
	}
}

static bool
is_continuation(uint8_t c)
{
	return (c & 0xc0) == 0x80;
}

size_t
textio_utf8(const uint8_t *s, size_t nbytes)
{
	if (s[0] < 0x80)
		return 1;
	/* Refuse overlong forms, surrogates, and code points above U+10FFFF. */
	if (nbytes >= 2 && s[0] >= 0xc2 && s[0] <= 0xdf)
		return is_continuation(s[1]) ? 2 : 0;
	if (nbytes >= 3 && s[0] >= 0xe0 && s[0] <= 0xef)
		return is_continuation(s[1]) && is_continuation(s[2]) &&
				       !(s[0] == 0xe0 && s[1] < 0xa0) &&
				       !(s[0] == 0xed && s[1] > 0x9f)
			       ? 3
			       : 0;
	if (nbytes >= 4 && s[0] >= 0xf0 && s[0] <= 0xf4)
		return is_continuation(s[1]) && is_continuation(s[2]) &&
				       is_continuation(s[3]) &&
				       !(s[0] == 0xf0 && s[1] < 0x90) &&
				       !(s[0] == 0xf4 && s[1] > 0x8f)
			       ? 4
			       : 0;
	return 0;
}

uint32_t
textio_code_point(const uint8_t *s, size_t length)
{
	/*
	 * Which bits of the first byte belong to the code point, by length of
	 * the character.
	 */
	static const uint8_t mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = s[0] & mask[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (s[i] & 0x3fu);
	return code;
}

bool
textio_is_terminal_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/*
 * Would a spreadsheet see a formula at this character, which follows the byte
 * 'before'?  The caller asks this for every character of a text, not only for
 * the first.  A spreadsheet that uses a separator other than the comma, or that
 * ignores quotes, may begin a new cell in the middle of the text.
 */
static bool
opens_formula(uint32_t code, uint8_t before)
{
	if (before != ',' && before != ';' && before != '"' && before != '\'')
		return false;
	switch (code) {
	case '=':
	case '+':
	case '-':
	case '@':
	case 0xff1d: /* the full-width forms of '=', '+', '-' and '@' */
	case 0xff0b:
	case 0xff0d:
	case 0xff20:
		return true;
	default:
		return false;
	}
}

static bool
needs_escape(const uint8_t *s, size_t length, uint8_t before, bool quoted)
{
	uint32_t code;

	if (s[0] == '\\' || length == 0 || (length > 1 && !quoted))
		return true;
	code = textio_code_point(s, length);
	return textio_is_terminal_control(code) ||
	       (quoted && opens_formula(code, before));
}

/*
 * Write the character at 's', which follows the byte 'before'.  If the
 * character needs an escape, write only its first byte, as \xHH.  Return how
 * many bytes of the input have been written.
 */
static size_t
escape_one(uint8_t **out, const uint8_t *s, size_t nbytes, uint8_t before,
	   bool quoted)
{
	const size_t length = textio_utf8(s, nbytes);
	uint8_t *p = *out;

	if (needs_escape(s, length, before, quoted)) {
		const uint8_t escape[4] = { '\\', 'x',
					    (uint8_t)digits[s[0] >> 4],
					    (uint8_t)digits[s[0] & 15] };

		memcpy(p, escape, sizeof(escape));
		*out = p + sizeof(escape);
		return 1;
	}
	if (s[0] == '"' && quoted)
		*p++ = '"';
	memcpy(p, s, length);
	*out = p + length;
	return length;
}

void
textio_write_escaped(struct outfile *o, const uint8_t *s, size_t nbytes,
		     bool quoted)
{
	/* treat the first character as the beginning of a cell */
	uint8_t before = ',';

	while (nbytes != 0) {
		const size_t n = nbytes < HEX_NBYTES ? nbytes : HEX_NBYTES;
		/*
		 * Reserve 4 bytes more than the first 'n' bytes can need,
		 * because the last character may begin within these bytes and
		 * end after them.
		 */
		uint8_t *const start = outfile_room(o, 4 * n + 4);
		uint8_t *p = start;
		size_t done = 0;

		while (done < n) {
			done += escape_one(&p, s + done, nbytes - done, before,
					   quoted);
			before = s[done - 1];
		}
		outfile_advance(o, (size_t)(p - start));
		s += done;
		nbytes -= done;
	}
}
