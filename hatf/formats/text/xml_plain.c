/* SPDX-License-Identifier: MIT */
/*
 * xml_plain.c - see xml_plain.h
 *
 * Each function take_...() parses one production of XML's grammar, or a subset
 * of it.  If something else comes next, the function reports this to its
 * caller, and the fast path refuses the record.
 */
#include "hatf/formats/text/xml_plain.h"

/*
 * Maximum length, in bytes, of the text that take_slow_number() parses: a
 * number with character references, CDATA or blanks.
 */
#define SLOW_NBYTES 64

static inline bool
skip(struct xml_plain *p, const char *text, size_t nbytes)
{
	if ((size_t)(p->end - p->next) < nbytes ||
	    memcmp(p->next, text, nbytes) != 0)
		return false;
	p->next += nbytes;
	return true;
}

#define SKIP(p, literal) skip(p, literal, sizeof(literal) - 1)

static inline bool
skip_byte(struct xml_plain *p, char byte)
{
	if (*p->next != (uint8_t)byte)
		return false;
	p->next++;
	return true;
}

static inline bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline void
skip_blanks(struct xml_plain *p)
{
	for (; is_blank(*p->next); p->next++)
		p->line_count += *p->next == '\n';
}

/*
 * Is this byte valid text, and the same character, in every encoding that the
 * document may have?
 */
static inline bool
is_plain(uint8_t c)
{
	return (c >= 0x20 && c < 0x7f) || is_blank(c);
}

/*
 * Skip a comment; its "<!--" has been read.  Two hyphens are allowed only at
 * its end.
 */
static bool
skip_comment(struct xml_plain *p)
{
	for (; is_plain(*p->next); p->next++) {
		p->line_count += *p->next == '\n';
		if (p->next[0] == '-' && p->next[1] == '-')
			return SKIP(p, "-->");
	}
	return false;
}

void
xml_plain_skip(struct xml_plain *p)
{
	for (;;) {
		struct xml_plain ahead;

		skip_blanks(p);
		ahead = *p;
		if (!SKIP(&ahead, "<!--") || !skip_comment(&ahead))
			return;
		*p = ahead;
	}
}

/* -------------------------------------------------------------------- text */

/*
 * Read a reference to a printable character; its '&' has been read.  Return 0
 * if something else follows.
 */
static uint8_t
take_reference(struct xml_plain *p)
{
	uint64_t n;

	if (SKIP(p, "lt;"))
		return '<';
	if (SKIP(p, "gt;"))
		return '>';
	if (SKIP(p, "amp;"))
		return '&';
	if (SKIP(p, "quot;"))
		return '"';
	if (SKIP(p, "apos;"))
		return '\'';
	/*
	 * Refuse "&#x", which is hexadecimal.  Refuse "&#0x", which is invalid
	 * but which textio_number() would accept.
	 */
	if (!SKIP(p, "#") || *p->next < '0' || *p->next > '9' ||
	    p->next[1] == 'x' || !textio_number(&p->next, &n) ||
	    !skip_byte(p, ';'))
		return 0;
	return n >= 0x20 && n < 0x7f ? (uint8_t)n : 0;
}

/* Memory for a text. */
struct text_room {
	uint8_t *next, *end;
};

static inline bool
put_plain(struct xml_plain *p, struct text_room *room, uint8_t c)
{
	/* Refuse '\r', since an XML parser would turn it into '\n'. */
	if (room->next == room->end || !is_plain(c) || c == '\r')
		return false;
	p->line_count += c == '\n';
	*room->next++ = c;
	return true;
}

/*
 * Read a CDATA section; its start has been read.  ']' is accepted only at the
 * end.
 */
static bool
take_section(struct xml_plain *p, struct text_room *room)
{
	while (*p->next != ']')
		if (!put_plain(p, room, *p->next++))
			return false;
	return SKIP(p, "]]>");
}

/*
 * Read text up to the next tag.  XML forbids '>' after "]]"; refuse every '>',
 * which is simpler.
 */
static bool
take_text(struct xml_plain *p, struct text_room *room)
{
	for (;;) {
		const uint8_t c = *p->next;

		if (c == '<' && !SKIP(p, "<![CDATA["))
			return true;
		if (c == '<') {
			if (!take_section(p, room))
				return false;
			continue;
		}
		p->next++;
		if (c == '>' ||
		    !put_plain(p, room, c == '&' ? take_reference(p) : c))
			return false;
	}
}

/* Parse a text that must be a number, except for blanks around it. */
static bool
take_slow_number(struct xml_plain *p, uint64_t *n_ret)
{
	uint8_t text[SLOW_NBYTES + 1];
	struct text_room room = { text, text + SLOW_NBYTES };
	struct xml_plain number = { text, text, 0 };

	if (!take_text(p, &room))
		return false;
	number.end = room.next;
	*number.end = '\0';
	skip_blanks(&number);
	if (!textio_number(&number.next, n_ret))
		return false;
	skip_blanks(&number);
	return number.next == number.end;
}

/* Read a number and the '<' of the tag after it. */
static inline bool
take_number(struct xml_plain *p, uint64_t *n_ret)
{
	const struct xml_plain start = *p;

	skip_blanks(p);
	if (textio_number(&p->next, n_ret)) {
		skip_blanks(p);
		if (skip_byte(p, '<'))
			return true;
	}
	*p = start;
	return take_slow_number(p, n_ret) && skip_byte(p, '<');
}

/* Read the text of attributes or of a comment, and the '<' after it. */
static bool
take_bytes(struct xml_plain *p, struct batch *b, struct hatf_record *rec)
{
	const uint8_t *const end =
		memchr(p->next, '<', (size_t)(p->end - p->next));
	struct textio_cell cell;
	struct text_room room;
	size_t nbytes;

	if (end == NULL || (size_t)(end - p->next) > XML_PLAIN_TEXT_NBYTES)
		return false;
	nbytes = (size_t)(end - p->next);
	if (nbytes == 0)
		return skip_byte(p, '<');
	cell.start = batch_bytes(b, nbytes);
	room = (struct text_room){ cell.start, cell.start + nbytes };
	if (cell.start == NULL || !take_text(p, &room))
		return false;
	cell.end = room.next;
	if (rec->tag == HATF_COMMENT)
		textio_unescape(&cell);
	else if (!textio_unhex(&cell))
		return false;
	rec->attributes = cell.start;
	rec->attributes_nbytes = (uint32_t)(cell.end - cell.start);
	return skip_byte(p, '<');
}

/* ---------------------------------------------------------------- elements */

int
xml_plain_tag(const uint8_t *name, size_t nbytes)
{
	for (unsigned tag = 0; tag <= HATF_COMMENT; tag++) {
		const char *const known = hatf_tag_name(tag);

		if (strlen(known) == nbytes && memcmp(known, name, nbytes) == 0)
			return (int)tag;
	}
	return -1;
}

static inline bool
is_letter(uint8_t c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Read the name of a record's element, which consists of letters. */
static inline int
take_tag(struct xml_plain *p)
{
	const uint8_t *const name = p->next;

	/* Fast path for the most frequent records. */
	if (SKIP(p, "alloc>") || SKIP(p, "free>")) {
		p->next--;
		return *name == 'a' ? HATF_ALLOC : HATF_FREE;
	}
	while (is_letter(*p->next))
		p->next++;
	return xml_plain_tag(name, (size_t)(p->next - name));
}

/*
 * Read the name of a field.  'open' has a bit '1 << field' for each field that
 * the record may still have.  Return XML_FIELD_COUNT if the name is not that of
 * such a field.
 */
static inline enum xml_field
take_field_name(struct xml_plain *p, unsigned open)
{
	enum xml_field field = XML_FIELD_COUNT;

	if (SKIP(p, "size"))
		field = XML_SIZE;
	/* the first of two addresses is the old one */
	else if (SKIP(p, "address"))
		field = open & 1u << XML_OLD_ADDRESS ? XML_OLD_ADDRESS
						     : XML_ADDRESS;
	else if (SKIP(p, "time"))
		field = XML_TIME;
	else if (SKIP(p, "thread"))
		field = XML_THREAD;
	else if (SKIP(p, "heap"))
		field = XML_HEAP;
	else if (SKIP(p, "attributes"))
		field = XML_ATTRIBUTES;
	return field != XML_FIELD_COUNT && (open >> field & 1)
		       ? field
		       : XML_FIELD_COUNT;
}

/* Read the end tag of the element 'name'; its "</" has been read. */
static inline bool
end_element(struct xml_plain *p, const uint8_t *name, size_t name_nbytes)
{
	if (!skip(p, (const char *)name, name_nbytes))
		return false;
	skip_blanks(p);
	return skip_byte(p, '>');
}

/* Read a field; its '<' has been read. */
static inline bool
take_field(struct xml_plain *p, struct batch *b, unsigned *open,
	   struct hatf_record *rec)
{
	const uint8_t *const name = p->next;
	const enum xml_field field = take_field_name(p, *open);
	const size_t name_nbytes = (size_t)(p->next - name);

	if (field == XML_FIELD_COUNT)
		return false;
	*open &= ~(1u << field);
	if (*p->next != '>') {
		skip_blanks(p);
		if (field == XML_ATTRIBUTES && SKIP(p, "/>"))
			return true;
	}
	if (!skip_byte(p, '>'))
		return false;
	if (field == XML_ATTRIBUTES) {
		if (!take_bytes(p, b, rec))
			return false;
	} else if (!take_number(p, xml_number(rec, field))) {
		return false;
	}
	return skip_byte(p, '/') && end_element(p, name, name_nbytes);
}

/* Read the only XML attribute that the element may have. */
static bool
take_attribute(struct xml_plain *p, struct hatf_record *rec)
{
	const enum xml_field field = xml_attribute_field(rec->tag);
	uint8_t quote;

	if (field == XML_FIELD_COUNT ||
	    !skip(p, xml_field_names[field], strlen(xml_field_names[field])))
		return false;
	skip_blanks(p);
	if (!skip_byte(p, '='))
		return false;
	skip_blanks(p);
	quote = *p->next;
	if (quote != '"' && quote != '\'')
		return false;
	p->next++;
	skip_blanks(p);
	if (!textio_number(&p->next, xml_number(rec, field)))
		return false;
	skip_blanks(p);
	return skip_byte(p, (char)quote);
}

/* Read the fields of a record, and the "</" after them. */
static bool
take_fields(struct xml_plain *p, struct batch *b, struct hatf_record *rec)
{
	unsigned open = xml_fields(rec->tag);

	for (;;) {
		/* Fast path: most records have nothing between the fields. */
		if (*p->next != '<' || p->next[1] == '!')
			xml_plain_skip(p);
		if (!skip_byte(p, '<'))
			return false;
		if (skip_byte(p, '/'))
			return (open & XML_REQUIRED) == 0;
		if (!take_field(p, b, &open, rec))
			return false;
	}
}

bool
xml_plain_take(struct xml_plain *p, struct batch *b, struct hatf_record *rec)
{
	const uint8_t *const name = p->next + 1;
	size_t name_nbytes;
	int tag;

	if (!skip_byte(p, '<'))
		return false;
	tag = take_tag(p);
	if (tag < 0)
		return false;
	name_nbytes = (size_t)(p->next - name);
	*rec = (struct hatf_record){ .tag = (uint8_t)tag };
	if (*p->next != '>') {
		skip_blanks(p);
		if (is_letter(*p->next)) {
			if (!take_attribute(p, rec))
				return false;
			skip_blanks(p);
		}
		if ((xml_fields(rec->tag) & XML_REQUIRED) == 0 && SKIP(p, "/>"))
			return true;
	}
	return skip_byte(p, '>') && take_fields(p, b, rec) &&
	       end_element(p, name, name_nbytes);
}

const uint8_t *
xml_plain_find_end(const uint8_t *next, const uint8_t *end)
{
	while (next != end &&
	       (next = memchr(next, '<', (size_t)(end - next))) != NULL) {
		const uint8_t *const name = next + 2;

		if (++next == end || *next++ != '/')
			continue;
		while (next != end && is_letter(*next))
			next++;
		if (xml_plain_tag(name, (size_t)(next - name)) < 0)
			continue;
		next = memchr(next, '>', (size_t)(end - next));
		return next == NULL ? NULL : next + 1;
	}
	return NULL;
}
