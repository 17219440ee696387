/* SPDX-License-Identifier: MIT */
/*
 * json_lines.c - one record per line, as a JSON object (FORMATS "json")
 *
 * {"tag":"alloc","size":24,"address":"0x55d0c0","thread":0,"heap":0,"time":17}
 * {"tag":"comment","text":"phase 2"}
 *
 * The parser accepts only such objects, without nesting.  It can therefore work
 * in place in the line, without allocating.  The keys may be in any order, and
 * blanks may be between any tokens.
 */
#include "hatf/formats/common/textio.h"

/* The key for a text that is not UTF-8.  Its value is hexadecimal digits. */
static const char hex_key[] = "hex";

/*
 * JavaScript and jq represent all integers up to this one exactly; larger
 * numbers are written as strings.
 */
#define EXACT_MAX ((uint64_t)1 << 53)

/* ---------------------------------------------------------------- reading */

bool
json_recognize(const uint8_t *bytes, size_t nbytes)
{
	return nbytes > 0 && bytes[0] == '{';
}

/* The rest of a line.  The byte at 'end' is the line end. */
struct cursor {
	uint8_t *next, *end;
};

static void
skip_blanks(struct cursor *c)
{
	while (*c->next == ' ' || *c->next == '\t')
		c->next++;
}

/* If 'byte' comes next, skip it and the blanks around it, and return true. */
static bool
take_byte(struct cursor *c, char byte)
{
	skip_blanks(c);
	if (*c->next != (uint8_t)byte)
		return false;
	c->next++;
	skip_blanks(c);
	return true;
}

/* Read four hexadecimal digits. */
static bool
take_unit(struct cursor *c, unsigned *unit_ret)
{
	struct textio_cell cell = { c->next, c->next + 4 };

	if (c->end - c->next < 4 || !textio_unhex(&cell))
		return false;
	*unit_ret = (unsigned)c->next[0] << 8 | c->next[1];
	c->next += 4;
	return true;
}

/*
 * Read the character of a \u escape, or of two \u escapes that are a surrogate
 * pair.  The caller has read the first "\u".
 */
static bool
take_unicode(struct cursor *c, unsigned *code_ret)
{
	unsigned high, low;

	if (!take_unit(c, &high) || (high >= 0xdc00 && high <= 0xdfff))
		return false;
	*code_ret = high;
	if (high < 0xd800 || high > 0xdbff)
		return true;
	if (c->end - c->next < 2 || c->next[0] != '\\' || c->next[1] != 'u')
		return false;
	c->next += 2;
	if (!take_unit(c, &low) || low < 0xdc00 || low > 0xdfff)
		return false;
	*code_ret = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

/* Write a character as UTF-8, which is never longer than its escape. */
static uint8_t *
put_utf8(uint8_t *p, unsigned code)
{
	if (code < 0x80) {
		*p++ = (uint8_t)code;
		return p;
	}
	if (code < 0x800) {
		*p++ = (uint8_t)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		*p++ = (uint8_t)(0xe0 | code >> 12);
		*p++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
	} else {
		*p++ = (uint8_t)(0xf0 | code >> 18);
		*p++ = (uint8_t)(0x80 | (code >> 12 & 0x3f));
		*p++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
	}
	*p++ = (uint8_t)(0x80 | (code & 0x3f));
	return p;
}

/* Read the rest of an escape; the backslash has been read. */
static bool
take_escape(struct cursor *c, uint8_t **out)
{
	static const char names[] = "\"\\/bfnrt";
	static const char values[] = "\"\\/\b\f\n\r\t";
	const char *found;
	unsigned code;

	if (c->next == c->end)
		return false;
	if (*c->next == 'u') {
		c->next++;
		if (!take_unicode(c, &code))
			return false;
		*out = put_utf8(*out, code);
		return true;
	}
	found = memchr(names, *c->next++, sizeof(names) - 1);
	if (found == NULL)
		return false;
	*(*out)++ = (uint8_t)values[found - names];
	return true;
}

/* Read a string and decode its escapes in place. */
static bool
take_string(struct cursor *c, struct textio_cell *cell)
{
	uint8_t *out;

	skip_blanks(c);
	if (*c->next != '"')
		return false;
	cell->start = ++c->next;
	/*
	 * Skip the bytes before the first escape, since they stay in place.
	 * Few strings have an escape.
	 */
	while (*c->next != '"' && *c->next != '\\' && *c->next >= 0x20)
		c->next++;
	out = c->next;
	while (c->next != c->end && *c->next != '"') {
		if (*c->next < 0x20)
			return false;
		if (*c->next != '\\') {
			*out++ = *c->next++;
			continue;
		}
		c->next++;
		if (!take_escape(c, &out))
			return false;
	}
	cell->end = out;
	return c->next++ != c->end;
}

/* Read a number. */
static bool
take_digits(struct cursor *c, struct textio_cell *cell)
{
	cell->start = c->next;
	while (*c->next >= '0' && *c->next <= '9')
		c->next++;
	cell->end = c->next;
	return cell->start != cell->end;
}

/* Read a value.  The value null leaves the cell empty. */
static bool
take_value(struct cursor *c, bool may_be_digits, struct textio_cell *cell)
{
	static const char null[] = "null";
	const size_t nbytes = sizeof(null) - 1;

	if (*c->next == '"')
		return take_string(c, cell);
	if ((size_t)(c->end - c->next) >= nbytes &&
	    memcmp(c->next, null, nbytes) == 0) {
		c->next += nbytes;
		return true;
	}
	return may_be_digits && take_digits(c, cell);
}

static bool
is_key(const struct textio_cell *key, const char *name)
{
	const size_t nbytes = strlen(name);

	return (size_t)(key->end - key->start) == nbytes &&
	       memcmp(key->start, name, nbytes) == 0;
}

/* Read a key and its value.  Return NULL, or the name of the malformed part. */
static const char *
take_pair(struct cursor *c, struct textio_row *row)
{
	struct textio_cell *cell = &row->tag;
	const char *name = "tag";
	bool may_be_digits = true;
	struct textio_cell key;
	int column;

	if (!take_string(c, &key) || !take_byte(c, ':'))
		return "key";
	if (is_key(&key, hex_key)) {
		cell = &row->cells[TEXTIO_TEXT];
		name = hex_key;
		may_be_digits = false;
	} else if (!is_key(&key, name)) {
		column = textio_find_column(key.start,
					    (size_t)(key.end - key.start));
		if (column < 0)
			return "key";
		cell = &row->cells[column];
		name = textio_column_names[column];
		may_be_digits = column < TEXTIO_ATTRIBUTES;
	}
	if (cell->start != NULL || !take_value(c, may_be_digits, cell))
		return name;
	if (name == hex_key && cell->start != NULL && !textio_unhex(cell))
		return name;
	return NULL;
}

static const char *
parse_line(struct source *s, struct textio_cell line, struct hatf_record *rec,
	   bool *is_record_ret)
{
	/*
	 * If records of the tag have one of these fields, the line must have
	 * it.  All other fields may be missing.
	 */
	const unsigned kept = 1u << TEXTIO_SIZE | 1u << TEXTIO_ADDRESS |
			      1u << TEXTIO_OLD_ADDRESS | 1u << TEXTIO_TEXT;
	struct cursor c = { line.start, line.end };
	struct textio_row row = { .tag = { NULL, NULL } };
	const char *field;

	(void)s;
	(void)is_record_ret;
	if (!take_byte(&c, '{'))
		return "object";
	do {
		field = take_pair(&c, &row);
		if (field != NULL)
			return field;
	} while (take_byte(&c, ','));
	if (!take_byte(&c, '}') || c.next != c.end)
		return "object";
	return textio_record(&row, kept, rec);
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	return textio_read(s, parse_line, records, max);
}

static enum hatf_status
open_source(struct source *s)
{
	s->line = 1;
	return HATF_OK;
}

/* ---------------------------------------------------------------- writing */

/* Maximum length of a line in bytes, not counting attributes and text. */
#define LINE_NBYTES (40 + 6 * (20 + TEXTIO_NUMBER_MAX))

/* How many bytes of a text are written at a time. */
#define TEXT_NBYTES 4096

/* Maximum length of an escaped character, in bytes. */
#define ESCAPE_MAX 6

#define PUT(p, literal) textio_put_bytes(p, literal, sizeof(literal) - 1)

static uint8_t *
put_number(uint8_t *p, uint64_t n)
{
	if (n <= EXACT_MAX)
		return textio_put_u64(p, n);
	*p++ = '"';
	p = textio_put_u64(p, n);
	*p++ = '"';
	return p;
}

static uint8_t *
put_address(uint8_t *p, uint64_t n)
{
	*p++ = '"';
	p = textio_put_hex(p, n);
	*p++ = '"';
	return p;
}

static uint8_t *
put_fields(uint8_t *p, const struct hatf_record *rec, unsigned columns)
{
	if (columns >> TEXTIO_SIZE & 1)
		p = put_number(PUT(p, ",\"size\":"), rec->size);
	if (columns >> TEXTIO_ADDRESS & 1)
		p = put_address(PUT(p, ",\"address\":"), rec->address);
	if (columns >> TEXTIO_OLD_ADDRESS & 1)
		p = put_address(PUT(p, ",\"old_address\":"), rec->old_address);
	if (columns >> TEXTIO_THREAD & 1)
		p = put_number(PUT(p, ",\"thread\":"), rec->thread);
	if (columns >> TEXTIO_HEAP & 1)
		p = put_number(PUT(p, ",\"heap\":"), rec->heap);
	if (columns >> TEXTIO_TIME & 1)
		p = put_number(PUT(p, ",\"time\":"), rec->time);
	return p;
}

/* Write the \u escape of a character of at most 16 bits. */
static uint8_t *
put_unicode(uint8_t *p, uint32_t code)
{
	static const char hex[] = "0123456789abcdef";

	p = PUT(p, "\\u");
	for (unsigned shift = 16; shift != 0; shift -= 4)
		*p++ = (uint8_t)hex[code >> (shift - 4) & 15];
	return p;
}

/*
 * Write the character at 's', and escape it if necessary.  Return how many
 * bytes the character has at 's'.
 */
static size_t
escape_one(uint8_t **out, const uint8_t *s, size_t nbytes)
{
	const size_t length = textio_utf8(s, nbytes);
	const uint32_t code = textio_code_point(s, length);
	uint8_t *p = *out;

	if (code == '\n') {
		p = PUT(p, "\\n");
	} else if (textio_is_terminal_control(code)) {
		p = put_unicode(p, code);
	} else {
		if (code == '"' || code == '\\')
			*p++ = '\\';
		p = textio_put_bytes(p, (const char *)s, length);
	}
	*out = p;
	return length;
}

/* Write a text that is valid UTF-8. */
static void
put_text(struct outfile *o, const uint8_t *s, size_t nbytes)
{
	while (nbytes != 0) {
		const size_t n = nbytes < TEXT_NBYTES ? nbytes : TEXT_NBYTES;
		/*
		 * The last character may begin within the first 'n' bytes of
		 * the text and end up to 3 bytes later, so reserve room for
		 * these 3 bytes, too.
		 */
		uint8_t *const start = outfile_room(o, ESCAPE_MAX * (n + 3));
		uint8_t *p = start;
		size_t done = 0;

		while (done < n)
			done += escape_one(&p, s + done, nbytes - done);
		outfile_advance(o, (size_t)(p - start));
		s += done;
		nbytes -= done;
	}
}

static bool
is_utf8(const uint8_t *s, size_t nbytes)
{
	size_t length;

	for (; nbytes != 0; s += length, nbytes -= length) {
		length = textio_utf8(s, nbytes);
		if (length == 0)
			return false;
	}
	return true;
}

/* Write the attributes or the text of a record, which may be long. */
static void
put_bytes(struct outfile *o, const struct hatf_record *rec)
{
	const uint8_t *const bytes = rec->attributes;
	const size_t nbytes = rec->attributes_nbytes;

	if (rec->tag == HATF_COMMENT && is_utf8(bytes, nbytes)) {
		outfile_bytes(o, ",\"text\":\"", 9);
		put_text(o, bytes, nbytes);
	} else {
		const char *const key = rec->tag == HATF_COMMENT
						? ",\"hex\":\""
						: ",\"attributes\":\"";

		outfile_bytes(o, key, strlen(key));
		textio_write_hex(o, bytes, nbytes);
	}
	outfile_bytes(o, "\"", 1);
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	const unsigned kept = textio_kept_columns(&s->options);
	struct outfile *const o = &s->out;

	for (size_t i = 0; i < n; i++) {
		const struct hatf_record *const rec = &records[i];
		const char *const name = hatf_tag_name(rec->tag);
		uint8_t *const start = outfile_room(o, LINE_NBYTES);
		uint8_t *p = PUT(start, "{\"tag\":\"");

		p = textio_put_bytes(p, name, strlen(name));
		*p++ = '"';
		p = put_fields(p, rec, textio_columns(rec->tag) & kept);
		if (rec->attributes_nbytes != 0 || rec->tag == HATF_COMMENT) {
			outfile_advance(o, (size_t)(p - start));
			put_bytes(o, rec);
			outfile_bytes(o, "}\n", 2);
			continue;
		}
		p = PUT(p, "}\n");
		outfile_advance(o, (size_t)(p - start));
	}
	return HATF_OK;
}

const struct source_ops json_source = {
	.open = open_source,
	.read = read_records,
};

const struct sink_ops json_sink = {
	.write = write_records,
};
