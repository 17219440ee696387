/* SPDX-License-Identifier: MIT */
/*
 * xml_source.c - read records from HATF in XML (FORMATS "xml")
 *
 * expat parses any XML, in one or two microseconds per record.  Most records
 * are so plain that xml_plain.c can parse them.  The source first tries
 * xml_plain.c wherever a record may begin: after the start tag of the root
 * element, and after the end tag of a record, unless expat has already received
 * bytes after this tag.  A plain record is a complete element, so expat need
 * not see the record and can continue after the record.
 *
 * Everything else goes to expat in pieces.  A piece ends after a record, if
 * possible, since the next record may be plain.  While no plain record comes,
 * the minimum length of a piece doubles each time, up to PIECE_NBYTES, so that
 * expat does not scan the start of a long token again after every few bytes.
 *
 * The memory of expat does not grow with the number of records, because the
 * source refuses a file that has one of these:
 * - a declaration of an entity;
 * - more than PROLOG_NBYTES before its root element;
 * - an unknown element, or a record with an unknown attribute;
 * - a token longer than TOKEN_NBYTES.
 */
#include "hatf/formats/text/xml_plain.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of bytes that expat gets at a time.  There is a limit, because
 * these bytes may have more records than the caller asks for, and the batch
 * must keep the surplus.
 */
#define PIECE_NBYTES ((size_t)16 * 1024)

/* The longest tag, comment or declaration, in bytes. */
#define TOKEN_NBYTES ((int64_t)1024 * 1024)

/*
 * Maximum number of bytes before the root element's content.  Expat keeps much
 * of what a DTD declares.
 */
#define PROLOG_NBYTES ((uint64_t)1024 * 1024)

/*
 * The longest text of an element, in bytes.  Any comment fits, even if each of
 * its bytes is escaped.
 */
#define TEXT_NBYTES ((size_t)512 * 1024)

/*
 * Before the source looks for a plain record, it loads at least this many bytes
 * into the window, if the file has them.  Most records are shorter.
 */
#define RECORD_NBYTES ((size_t)4 * 1024)

/*
 * As long as the source finds no plain record, the minimum length of the pieces
 * that expat gets grows: 0 bytes for the first piece, this many for the second,
 * and twice as many for each later piece, up to PIECE_NBYTES.  After a plain
 * record, the minimum is 0 again.
 */
#define STRIDE_NBYTES ((size_t)64)

struct xml {
	struct batch batch;
	struct source *source;
	XML_Parser expat;
	uint64_t skipped; /* number of bytes that were parsed without expat */
	uint64_t skipped_lines;
	uint64_t fed; /* number of bytes that expat has seen */
	/*
	 * How many bytes expat has seen up to the end of the latest tag after
	 * which a record may follow; 0: there was no such tag yet.
	 */
	uint64_t content_start;
	/* the next record may be plain, so try xml_plain.c */
	bool may_be_plain;
	/*
	 * true: the document declares default values of attributes, which only
	 * expat knows
	 */
	bool has_defaults;
	size_t stride_nbytes; /* minimum length of expat's next piece */
	/*
	 * 0: outside the root element, 1: in the root element, 2: in a record,
	 * 3: in a field
	 */
	unsigned depth;
	struct hatf_record rec;
	/* fields of 'rec' that were seen, as bits '1 << field' */
	unsigned seen;
	enum xml_field field;
	uint8_t *text; /* TEXT_NBYTES + 1 */
	size_t text_nbytes;
	/*
	 * The attributes of 'rec'.  They are not in the batch, because 'rec'
	 * may end in a later batch.
	 */
	uint8_t attributes[UINT16_MAX];
};

/* ---------------------------------------------------------------- by expat */

/* Return expat's position in the uncompressed file. */
static uint64_t
current_offset(const struct xml *x)
{
	return x->skipped + (uint64_t)XML_GetCurrentByteIndex(x->expat);
}

/* Stop reading with an error at expat's position. */
static void
stop_here(struct xml *x, enum hatf_status status, const char *field)
{
	struct source *const s = x->source;

	s->offset = current_offset(x);
	s->line = x->skipped_lines + XML_GetCurrentLineNumber(x->expat);
	source_stop(s, status, field);
}

static void
stop(struct xml *x, enum hatf_status status, const char *field)
{
	if (x->source->err.status == HATF_OK)
		stop_here(x, status, field);
	XML_StopParser(x->expat, XML_FALSE);
}

/*
 * Parse a NUL-terminated text that must be a number, except for blanks around
 * it.
 */
static bool
whole_number(uint8_t *text, uint64_t *n_ret)
{
	text += strspn((char *)text, " \t\r\n");
	if (!textio_number(&text, n_ret))
		return false;
	text += strspn((char *)text, " \t\r\n");
	return *text == '\0';
}

/* Set the field that is an XML attribute of the record's element. */
static void
take_attributes(struct xml *x, const char **attributes)
{
	const enum xml_field field = xml_attribute_field(x->rec.tag);

	for (; attributes[0] != NULL; attributes += 2) {
		const size_t nbytes = strlen(attributes[1]);

		if (field == XML_FIELD_COUNT ||
		    strcmp(attributes[0], xml_field_names[field]) != 0) {
			stop(x, HATF_BAD_FIELD, "attribute");
			return;
		}
		if (nbytes > TEXT_NBYTES) {
			stop(x, HATF_LIMIT, "text");
			return;
		}
		memcpy(x->text, attributes[1], nbytes + 1);
		if (!whole_number(x->text, xml_number(&x->rec, field))) {
			stop(x, HATF_BAD_FIELD, xml_field_names[field]);
			return;
		}
	}
}

static void
start_record(struct xml *x, const char *name, const char **attributes)
{
	const int tag = xml_plain_tag((const uint8_t *)name, strlen(name));

	if (tag < 0) {
		stop(x, HATF_BAD_TAG, "element");
		return;
	}
	x->rec = (struct hatf_record){ .tag = (uint8_t)tag,
				       .offset = current_offset(x) };
	x->seen = 0;
	take_attributes(x, attributes);
}

static void
start_field(struct xml *x, const char *name, const char **attributes)
{
	const unsigned open = xml_fields(x->rec.tag) & ~x->seen;
	unsigned field = 0;

	/* If a record has two addresses, the old one comes first. */
	while (field < XML_FIELD_COUNT &&
	       ((open >> field & 1) == 0 ||
		strcmp(name, xml_field_names[field]) != 0))
		field++;
	if (field == XML_FIELD_COUNT) {
		stop(x, HATF_BAD_FIELD, "element");
		return;
	}
	if (attributes[0] != NULL) {
		stop(x, HATF_BAD_FIELD, "attribute");
		return;
	}
	x->field = (enum xml_field)field;
	x->seen |= 1u << field;
	x->text_nbytes = 0;
}

static void XMLCALL
on_start(void *ctx, const char *name, const char **attributes)
{
	struct xml *const x = ctx;

	switch (x->depth++) {
	case 0:
		if (strcmp(name, "hatf") != 0)
			stop(x, HATF_NOT_HATF, "element");
		x->content_start = (uint64_t)XML_GetCurrentByteIndex(x->expat) +
				   (uint64_t)XML_GetCurrentByteCount(x->expat);
		break;
	case 1:
		start_record(x, name, attributes);
		break;
	case 2:
		start_field(x, name, attributes);
		break;
	default:
		stop(x, HATF_BAD_FIELD, "element");
		break;
	}
}

/* Set the attributes of a record or the text of a comment. */
static void
end_attributes(struct xml *x)
{
	struct textio_cell cell = { x->text, x->text + x->text_nbytes };
	size_t nbytes;

	if (x->rec.tag == HATF_COMMENT) {
		textio_unescape(&cell);
	} else if (!textio_unhex(&cell)) {
		stop(x, HATF_BAD_FIELD, "attributes");
		return;
	}
	nbytes = (size_t)(cell.end - cell.start);
	if (nbytes > UINT16_MAX) {
		stop(x, HATF_BAD_FIELD, "attributes");
		return;
	}
	memcpy(x->attributes, cell.start, nbytes);
	x->rec.attributes_nbytes = (uint32_t)nbytes;
}

static void
end_field(struct xml *x)
{
	if (x->field == XML_ATTRIBUTES) {
		end_attributes(x);
		return;
	}
	x->text[x->text_nbytes] = '\0';
	if (!whole_number(x->text, xml_number(&x->rec, x->field)))
		stop(x, HATF_BAD_FIELD, xml_field_names[x->field]);
}

static void
end_record(struct xml *x)
{
	const unsigned missing =
		xml_fields(x->rec.tag) & XML_REQUIRED & ~x->seen;
	struct hatf_record *rec;
	uint8_t *bytes;

	if (missing != 0) {
		stop(x, HATF_BAD_FIELD,
		     xml_field_names[__builtin_ctz(missing)]);
		return;
	}
	if (x->rec.attributes_nbytes != 0) {
		bytes = batch_bytes(&x->batch, x->rec.attributes_nbytes);
		if (bytes == NULL)
			return;
		memcpy(bytes, x->attributes, x->rec.attributes_nbytes);
		x->rec.attributes = bytes;
	}
	rec = batch_add(&x->batch, x->rec.tag);
	if (rec != NULL)
		*rec = x->rec;
	x->content_start = (uint64_t)XML_GetCurrentByteIndex(x->expat) +
			   (uint64_t)XML_GetCurrentByteCount(x->expat);
}

static void XMLCALL
on_end(void *ctx, const char *name)
{
	struct xml *const x = ctx;

	(void)name;
	/*
	 * Do nothing if the source has stopped.  For an empty-element tag, such
	 * as "<time/>", expat calls this function even after XML_StopParser().
	 */
	if (x->source->err.status != HATF_OK)
		return;
	switch (--x->depth) {
	case 2:
		end_field(x);
		break;
	case 1:
		end_record(x);
		break;
	default:
		break;
	}
}

static void XMLCALL
on_text(void *ctx, const char *text, int nbytes)
{
	struct xml *const x = ctx;

	if (x->source->err.status != HATF_OK)
		return;
	if (x->depth == 3) {
		if ((size_t)nbytes > TEXT_NBYTES - x->text_nbytes) {
			stop(x, HATF_LIMIT, "text");
			return;
		}
		memcpy(x->text + x->text_nbytes, text, (size_t)nbytes);
		x->text_nbytes += (size_t)nbytes;
		return;
	}
	for (int i = 0; i < nbytes; i++)
		if (strchr(" \t\r\n", text[i]) == NULL || text[i] == '\0') {
			stop(x, HATF_BAD_FIELD, "text");
			return;
		}
}

/*
 * Refuse entities, because an entity could stand for far more text than the
 * file has.
 */
static void XMLCALL
on_entity(void *ctx, const char *name, int is_parameter, const char *value,
	  int value_nbytes, const char *base, const char *system_id,
	  const char *public_id, const char *notation)
{
	(void)name;
	(void)is_parameter;
	(void)value;
	(void)value_nbytes;
	(void)base;
	(void)system_id;
	(void)public_id;
	(void)notation;
	stop(ctx, HATF_LIMIT, "entity");
}

/*
 * Expat has read the declaration of an attribute.  If the attribute has a
 * default value, an element may omit the attribute.  Only expat then knows the
 * value.
 */
static void XMLCALL
on_attribute(void *ctx, const char *element, const char *name, const char *type,
	     const char *value, int is_required)
{
	struct xml *const x = ctx;

	(void)element;
	(void)name;
	(void)type;
	(void)is_required;
	x->has_defaults |= value != NULL;
}

/* Report expat's error, unless it only says that we called XML_StopParser(). */
static void
stop_for_expat(struct xml *x)
{
	switch (XML_GetErrorCode(x->expat)) {
	case XML_ERROR_ABORTED:
		break;
	case XML_ERROR_NO_MEMORY:
		stop_here(x, HATF_NO_MEMORY, NULL);
		break;
	case XML_ERROR_AMPLIFICATION_LIMIT_BREACH:
		stop_here(x, HATF_LIMIT, "entity");
		break;
	default:
		stop_here(x, HATF_BAD_FIELD, "XML");
		break;
	}
}

/* Return the position after the next 'byte', or NULL. */
static const uint8_t *
after(const uint8_t *next, const uint8_t *end, char byte)
{
	next = memchr(next, byte, (size_t)(end - next));
	return next == NULL ? NULL : next + 1;
}

static uint64_t
count_lines(const uint8_t *next, const uint8_t *end)
{
	uint64_t count = 0;

	while ((next = after(next, end, '\n')) != NULL)
		count++;
	return count;
}

/* Pass the next 'nbytes' of the window to expat. */
static void
feed(struct source *s, size_t nbytes)
{
	struct xml *const x = s->ctx;
	const uint8_t *const next = s->window.next;

	if (XML_Parse(x->expat, (const char *)next, (int)nbytes, 0) !=
	    XML_STATUS_OK) {
		if (s->err.status == HATF_OK)
			stop_for_expat(x);
		return;
	}
	x->fed += nbytes;
	if ((int64_t)x->fed - (int64_t)XML_GetCurrentByteIndex(x->expat) >
	    TOKEN_NBYTES) {
		source_stop(s, HATF_LIMIT, "token");
		return;
	}
	if (x->content_start == 0 && x->fed > PROLOG_NBYTES) {
		source_stop(s, HATF_LIMIT, "declarations");
		return;
	}
	x->may_be_plain =
		x->depth == 1 && x->content_start == x->fed && !x->has_defaults;
	s->window.next += nbytes;
	s->offset += nbytes;
	s->line += count_lines(next, next + nbytes);
}

/*
 * Return how many bytes to pass to expat.  The maximum is the whole window or
 * PIECE_NBYTES, whichever is less.  Skip x->stride_nbytes bytes, and end the
 * piece after the next end tag of a record or, outside the root element, after
 * the next '>'.  If there is none, return the maximum.  If x->stride_nbytes is
 * below the maximum, double it for the next call, or change 0 to STRIDE_NBYTES.
 */
static size_t
piece_nbytes(struct xml *x, const struct input_window *w)
{
	const size_t left = input_window_left(w);
	const size_t max = left < PIECE_NBYTES ? left : PIECE_NBYTES;
	const uint8_t *const end = w->next + max;
	const uint8_t *next = w->next;

	if (x->stride_nbytes >= max)
		return max;
	next += x->stride_nbytes;
	x->stride_nbytes =
		x->stride_nbytes == 0 ? STRIDE_NBYTES : 2 * x->stride_nbytes;
	if (x->depth != 0)
		next = xml_plain_find_end(next, end);
	else
		next = after(next, end, '>');
	return next == NULL ? max : (size_t)(next - w->next);
}

/* -------------------------------------------------------- without a parser */

static inline struct xml_plain
begin_plain(struct input_window *w)
{
	if (input_window_left(w) < RECORD_NBYTES)
		input_window_fill(w, RECORD_NBYTES);
	return (struct xml_plain){ w->buf + (w->next - w->buf),
				   w->buf + (w->end - w->buf), 0 };
}

/* Advance to 'p->next'.  Expat need not see the bytes before it. */
static void
advance(struct source *s, const struct xml_plain *p)
{
	struct xml *const x = s->ctx;
	const size_t nbytes = (size_t)(p->next - s->window.next);

	x->skipped += nbytes;
	x->skipped_lines += p->line_count;
	s->window.next += nbytes;
	s->offset += nbytes;
	s->line += p->line_count;
}

/*
 * Call this where a record may begin.  Skip blanks and comments, and try to
 * parse a plain record.  Return false if what comes next is not a complete
 * plain record.
 */
static bool
take_plain(struct source *s)
{
	struct xml *const x = s->ctx;
	struct xml_plain p = begin_plain(&s->window);
	struct hatf_record rec;
	struct hatf_record *out;

	xml_plain_skip(&p);
	advance(s, &p);
	p = begin_plain(&s->window);
	if (!xml_plain_take(&p, &x->batch, &rec))
		return false;
	rec.offset = s->offset;
	out = batch_add(&x->batch, rec.tag);
	if (out != NULL)
		*out = rec;
	advance(s, &p);
	return true;
}

/* ------------------------------------------------------------------ source */

/* Finish the document at the end of the file. */
static void
end_file(struct source *s)
{
	struct xml *const x = s->ctx;
	const bool is_whole = XML_Parse(x->expat, "", 0, 1) == XML_STATUS_OK;

	source_stop_at_end(s, !is_whole, "XML");
}

/*
 * Parse a plain record, or pass a piece of the document to expat.  At the end
 * of the file, finish the document.
 */
static void
take_piece(struct source *s)
{
	struct xml *const x = s->ctx;

	if (x->may_be_plain && take_plain(s)) {
		x->stride_nbytes = 0;
		return;
	}
	if (input_window_left(&s->window) < PIECE_NBYTES)
		input_window_fill(&s->window, PIECE_NBYTES);
	if (input_window_left(&s->window) == 0)
		end_file(s);
	else
		feed(s, piece_nbytes(x, &s->window));
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct xml *const x = s->ctx;

	batch_begin(&x->batch, records, max);
	while (batch_has_room(&x->batch) && s->err.status == HATF_OK)
		take_piece(s);
	return batch_end(&x->batch, s);
}

static enum hatf_status
open_source(struct source *s)
{
	struct xml *const x = calloc(1, sizeof(*x));

	if (x == NULL)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	s->ctx = x;
	s->line = 1;
	x->source = s;
	x->text = malloc(TEXT_NBYTES + 1);
	x->expat = XML_ParserCreate(NULL);
	if (x->text == NULL || x->expat == NULL)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	XML_SetUserData(x->expat, x);
	XML_SetElementHandler(x->expat, on_start, on_end);
	XML_SetCharacterDataHandler(x->expat, on_text);
	XML_SetEntityDeclHandler(x->expat, on_entity);
	XML_SetAttlistDeclHandler(x->expat, on_attribute);
	return HATF_OK;
}

static void
close_source(struct source *s)
{
	struct xml *const x = s->ctx;

	if (x == NULL)
		return;
	if (x->expat != NULL)
		XML_ParserFree(x->expat);
	batch_fini(&x->batch);
	free(x->text);
	free(x);
}

/* Do the bytes begin with the text, or are they a prefix of the text? */
static bool
begins(const uint8_t *p, size_t nbytes, const char *text)
{
	const size_t length = strlen(text);

	return memcmp(p, text, nbytes < length ? nbytes : length) == 0;
}

/*
 * Return the position after the blanks, the comments and the XML declaration
 * (or other "<?...?>") before the root element.  Return NULL if a comment or
 * declaration does not end within the bytes.
 */
static const uint8_t *
skip_prolog(const uint8_t *p, const uint8_t *end)
{
	for (;;) {
		const char *close = NULL;

		while (p != end &&
		       (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
			p++;
		if (begins(p, (size_t)(end - p), "<?"))
			close = "?>";
		else if (begins(p, (size_t)(end - p), "<!--"))
			close = "-->";
		if (close == NULL || p == end)
			return p;
		p = memmem(p, (size_t)(end - p), close, strlen(close));
		if (p == NULL)
			return NULL;
		p += strlen(close);
	}
}

/*
 * If the bytes begin with '<' but end before the root element begins, return
 * true: the parser refuses the file later if its root element is not HATF's.
 */
bool
xml_recognize(const uint8_t *bytes, size_t nbytes)
{
	const uint8_t *const end = bytes + nbytes;
	const uint8_t *p = bytes;

	if (nbytes >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	if (p == end || *p != '<')
		return false;
	p = skip_prolog(p, end);
	if (p == NULL || p == end)
		return true;
	/* Refuse a name that begins with "hatf" but is longer. */
	if (begins(p, (size_t)(end - p), "<hatf"))
		return end - p <= 5 ||
		       (p[5] != '\0' && strchr(" \t\r\n/>", p[5]) != NULL);
	return begins(p, (size_t)(end - p), "<!DOCTYPE hatf");
}

const struct source_ops xml_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
