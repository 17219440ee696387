/* SPDX-License-Identifier: MIT */
/*
 * xml_source.c - HATF as XML into records (FORMAT "xml")
 *
 * expat parses whatever XML there may be.  It takes a microsecond for a record, of
 * which most are lines that look like those of our own sink.  So such a line is taken
 * apart here, where it can be nothing else: directly behind the end of a record's
 * element, or of the start of the root's, and a newline.  It is a whole element, so
 * expat need not see it to go on behind it.
 *
 * What a hostile file could make expat keep is bounded: it declares no entities,
 * names no elements but ours, and no token is longer than TOKEN_NBYTES.
 */
#include "batch.h"
#include "xml.h"

#include <expat.h>
#include <stdlib.h>

/* What expat gets at once: the records of it are kept if they are too many. */
#define PIECE_NBYTES ((size_t)16 * 1024)

/* The longest tag, comment or declaration. */
#define TOKEN_NBYTES ((int64_t)1024 * 1024)

/* The longest text of an element: any comment fits, escaped byte by byte. */
#define TEXT_NBYTES ((size_t)512 * 1024)

/* The shortest line that can be a record. */
#define LINE_NBYTES_MIN 16

struct xml {
	struct batch batch;
	struct source *source;
	XML_Parser expat;
	uint64_t skipped; /* bytes that expat has not seen */
	uint64_t fed;	  /* bytes that it has */
	bool at_start;	  /* of what may be a line of our own sink */
	/* Where the last tag ended that a record may follow, as expat counts. */
	uint64_t content;
	unsigned depth; /* 0: outside of the root, 1: in it, 2: in a record */
	struct hatf_record rec;
	unsigned seen; /* fields of 'rec', as bits */
	enum xml_field field;
	uint8_t *text; /* TEXT_NBYTES + 1 */
	size_t text_nbytes;
};

/* ---------------------------------------------------------------- by expat */

static void
stop(struct xml *x, enum hatf_status status, const char *field)
{
	if (x->source->err.status == HATF_OK)
		source_stop(x->source, status, field);
	XML_StopParser(x->expat, XML_FALSE);
}

/* What expat is at, in the uncompressed file. */
static uint64_t
here(const struct xml *x)
{
	return x->skipped + (uint64_t)XML_GetCurrentByteIndex(x->expat);
}

static int
find_tag(const char *name)
{
	for (unsigned tag = 0; tag <= HATF_COMMENT; tag++)
		if (strcmp(name, hatf_tag_name(tag)) == 0)
			return (int)tag;
	return -1;
}

/* A number that is all of the NUL-terminated text, but for blanks around it. */
static bool
whole_number(uint8_t *text, uint64_t *n_ret)
{
	text += strspn((char *)text, " \t\r\n");
	if (!textio_number(&text, n_ret))
		return false;
	text += strspn((char *)text, " \t\r\n");
	return *text == '\0';
}

static void
set_number(struct hatf_record *rec, enum xml_field field, uint64_t n)
{
	switch (field) {
	case XML_SIZE:
		rec->size = n;
		break;
	case XML_OLD_ADDRESS:
		rec->old_address = n;
		break;
	case XML_ADDRESS:
		rec->address = n;
		break;
	case XML_TIME:
		rec->time = n;
		break;
	case XML_THREAD:
		rec->thread = n;
		break;
	default:
		rec->heap = n;
		break;
	}
}

/* The attributes of a record's element. */
static void
take_attributes(struct xml *x, const char **attributes)
{
	const enum xml_field field = xml_attribute(x->rec.tag);
	uint8_t digits[32];
	uint64_t n;

	for (; attributes[0] != NULL; attributes += 2) {
		if (field == XML_FIELD_COUNT ||
		    strcmp(attributes[0], xml_names[field]) != 0) {
			stop(x, HATF_BAD_FIELD, "attribute");
			return;
		}
		strncpy((char *)digits, attributes[1], sizeof(digits) - 1);
		digits[sizeof(digits) - 1] = '\0';
		if (!whole_number(digits, &n)) {
			stop(x, HATF_BAD_FIELD, xml_names[field]);
			return;
		}
		set_number(&x->rec, field, n);
	}
}

static void
start_record(struct xml *x, const char *name, const char **attributes)
{
	const int tag = find_tag(name);

	if (tag < 0) {
		stop(x, HATF_BAD_TAG, "element");
		return;
	}
	x->rec = (struct hatf_record){ .tag = (uint8_t)tag, .offset = here(x) };
	x->seen = 0;
	take_attributes(x, attributes);
}

static void
start_field(struct xml *x, const char *name)
{
	const unsigned open = xml_fields(x->rec.tag) & ~x->seen;
	unsigned field = 0;

	/* Of two addresses the old one comes first. */
	while (field < XML_FIELD_COUNT && ((open >> field & 1) == 0 ||
					   strcmp(name, xml_names[field]) != 0))
		field++;
	if (field == XML_FIELD_COUNT) {
		stop(x, HATF_BAD_FIELD, "element");
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
		x->content = (uint64_t)XML_GetCurrentByteIndex(x->expat) +
			     (uint64_t)XML_GetCurrentByteCount(x->expat);
		break;
	case 1:
		start_record(x, name, attributes);
		break;
	case 2:
		start_field(x, name);
		break;
	default:
		stop(x, HATF_BAD_FIELD, "element");
		break;
	}
}

/* A record's attributes, or a comment's text, out of the text. */
static void
end_attributes(struct xml *x)
{
	struct textio_cell cell = { x->text, x->text + x->text_nbytes };
	uint8_t *bytes;
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
	bytes = nbytes == 0 ? NULL : batch_bytes(&x->batch, nbytes);
	if (bytes == NULL)
		return;
	memcpy(bytes, cell.start, nbytes);
	x->rec.attributes = bytes;
	x->rec.attributes_nbytes = (uint32_t)nbytes;
}

static void
end_field(struct xml *x)
{
	uint64_t n;

	if (x->field == XML_ATTRIBUTES) {
		end_attributes(x);
		return;
	}
	x->text[x->text_nbytes] = '\0';
	if (whole_number(x->text, &n))
		set_number(&x->rec, x->field, n);
	else
		stop(x, HATF_BAD_FIELD, xml_names[x->field]);
}

/* What a record must have is what it is about; the rest may be left out: 0. */
static void
end_record(struct xml *x)
{
	const unsigned must =
		1u << XML_SIZE | 1u << XML_ADDRESS | 1u << XML_OLD_ADDRESS;
	const unsigned missing = xml_fields(x->rec.tag) & must & ~x->seen;
	struct hatf_record *rec;

	if (missing != 0) {
		stop(x, HATF_BAD_FIELD, xml_names[__builtin_ctz(missing)]);
		return;
	}
	rec = batch_add(&x->batch, x->rec.tag);
	if (rec != NULL)
		*rec = x->rec;
	x->content = (uint64_t)XML_GetCurrentByteIndex(x->expat) +
		     (uint64_t)XML_GetCurrentByteCount(x->expat);
}

static void XMLCALL
on_end(void *ctx, const char *name)
{
	struct xml *const x = ctx;

	(void)name;
	/* expat may go on for a tag that is both start and end. */
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

/* An entity could stand for text that is far longer than the file. */
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

/* What expat said, unless we made it say so. */
static void
stop_for_expat(struct xml *x)
{
	struct source *const s = x->source;

	switch (XML_GetErrorCode(x->expat)) {
	case XML_ERROR_ABORTED:
		break;
	case XML_ERROR_NO_MEMORY:
		source_stop(s, HATF_NO_MEMORY, NULL);
		break;
	case XML_ERROR_AMPLIFICATION_LIMIT_BREACH:
		source_stop(s, HATF_LIMIT, "entity");
		break;
	default:
		source_stop(s, HATF_BAD_FIELD, "XML");
		break;
	}
}

/* Give expat the next 'nbytes' of the window. */
static void
feed(struct source *s, size_t nbytes)
{
	struct xml *const x = s->ctx;
	const bool ends_line = s->window.next[nbytes - 1] == '\n';

	if (XML_Parse(x->expat, (const char *)s->window.next, (int)nbytes, 0) !=
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
	x->at_start = ends_line && x->depth == 1 && x->content + 1 == x->fed;
	s->window.next += nbytes;
	s->offset += nbytes;
	s->line += ends_line;
}

/* ------------------------------------------------------- by a line's looks */

/* Step over a string that must come next. */
static inline bool
skip(uint8_t **next, const uint8_t *end, const char *text, size_t nbytes)
{
	if ((size_t)(end - *next) < nbytes || memcmp(*next, text, nbytes) != 0)
		return false;
	*next += nbytes;
	return true;
}

#define SKIP(next, end, literal) skip(next, end, literal, sizeof(literal) - 1)

/* The elements from the time on, as far as the tag has them. */
static bool
take_tail(uint8_t **next, const uint8_t *end, unsigned fields,
	  struct hatf_record *rec)
{
	if ((fields & 1u << XML_TIME) &&
	    (!SKIP(next, end, "<time>") || !textio_number(next, &rec->time) ||
	     !SKIP(next, end, "</time>")))
		return false;
	if ((fields & 1u << XML_THREAD) &&
	    (!SKIP(next, end, "<thread>") ||
	     !textio_number(next, &rec->thread) ||
	     !SKIP(next, end, "</thread>")))
		return false;
	return (fields & 1u << XML_HEAP) == 0 ||
	       (SKIP(next, end, "<heap>") && textio_number(next, &rec->heap) &&
		SKIP(next, end, "</heap>"));
}

static bool
take_address(uint8_t **next, const uint8_t *end, uint64_t *n_ret)
{
	return SKIP(next, end, "<address>") && textio_number(next, n_ret) &&
	       SKIP(next, end, "</address>");
}

/* "alloc" and what follows it. */
static bool
take_tag(uint8_t **next, const uint8_t *end, struct hatf_record *rec)
{
	if (SKIP(next, end, "<alloc>")) {
		rec->tag = HATF_ALLOC;
		return SKIP(next, end, "<size>") &&
		       textio_number(next, &rec->size) &&
		       SKIP(next, end, "</size>");
	}
	if (SKIP(next, end, "<free>")) {
		rec->tag = HATF_FREE;
		return true;
	}
	if (!SKIP(next, end, "<realloc"))
		return false;
	if (SKIP(next, end, "NoAlloc"))
		rec->tag = HATF_REALLOC_NO_ALLOC;
	else if (SKIP(next, end, "AllocFree"))
		rec->tag = HATF_REALLOC_ALLOC_FREE;
	else
		return false;
	if (SKIP(next, end, " size=\"") &&
	    (!textio_number(next, &rec->size) || !SKIP(next, end, "\"")))
		return false;
	return SKIP(next, end, ">") &&
	       take_address(next, end, &rec->old_address);
}

/* The attributes' digits, and the rest of the line. */
static bool
take_end(struct xml *x, uint8_t **next, uint8_t *end, struct hatf_record *rec)
{
	const char *const name = hatf_tag_name(rec->tag);
	struct textio_cell cell = { *next, *next };

	if (!SKIP(next, end, "<attributes>"))
		return false;
	cell.start = *next;
	cell.end = memchr(*next, '<', (size_t)(end - *next));
	if (cell.end == NULL)
		return false;
	*next = cell.end;
	if (!SKIP(next, end, "</attributes></") ||
	    !skip(next, end, name, strlen(name)) || !SKIP(next, end, ">") ||
	    *next != end)
		return false;
	if (cell.start == cell.end)
		return true;
	/* Longer ones are for the general way, which may refuse them. */
	if ((size_t)(cell.end - cell.start) > PIECE_NBYTES)
		return false;

	/* The line must stay what it is, if it is not one of ours after all. */
	const size_t nbytes = (size_t)(cell.end - cell.start);
	uint8_t *const copy = batch_bytes(&x->batch, nbytes);

	if (copy == NULL)
		return false;
	memcpy(copy, cell.start, nbytes);
	cell = (struct textio_cell){ copy, copy + nbytes };
	if (!textio_unhex(&cell))
		return false;
	rec->attributes = copy;
	rec->attributes_nbytes = (uint32_t)(cell.end - copy);
	return true;
}

/* Take a line of 'nbytes', newline and all, if it is as our sink writes it. */
static bool
take_line(struct source *s, size_t nbytes)
{
	struct xml *const x = s->ctx;
	uint8_t *next = s->window.buf + (s->window.next - s->window.buf);
	uint8_t *const end = next + nbytes - 1;
	struct hatf_record rec = { .offset = s->offset };
	struct hatf_record *out;

	if (nbytes < LINE_NBYTES_MIN || !take_tag(&next, end, &rec) ||
	    !take_address(&next, end, &rec.address) ||
	    !take_tail(&next, end, xml_fields(rec.tag), &rec) ||
	    !take_end(x, &next, end, &rec))
		return false;
	out = batch_add(&x->batch, rec.tag);
	if (out != NULL)
		*out = rec;
	x->skipped += nbytes;
	s->window.next += nbytes;
	s->offset += nbytes;
	s->line++;
	return true;
}

/* ------------------------------------------------------------------ source */

/* The file ends. */
static void
end_file(struct source *s)
{
	struct xml *const x = s->ctx;
	const bool is_whole = XML_Parse(x->expat, "", 0, 1) == XML_STATUS_OK;

	source_stop_at_end(s, !is_whole, "XML");
}

/* Take a line, or as much of it as there may be. */
static void
take_piece(struct source *s)
{
	struct xml *const x = s->ctx;
	struct window *const w = &s->window;
	const uint8_t *newline;
	size_t nbytes;

	while ((newline = memchr(w->next, '\n', window_left(w))) == NULL &&
	       window_left(w) < WINDOW_NBYTES)
		if (!window_more(w))
			break;
	nbytes = newline != NULL ? (size_t)(newline + 1 - w->next)
				 : window_left(w);
	if (nbytes == 0) {
		end_file(s);
		return;
	}
	if (newline != NULL && x->at_start && take_line(s, nbytes))
		return;
	feed(s, nbytes < PIECE_NBYTES ? nbytes : PIECE_NBYTES);
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct xml *const x = s->ctx;

	batch_begin(&x->batch, records, max);
	while (batch_wants(&x->batch) && s->err.status == HATF_OK)
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

/* Does it begin with the text, or, if 'nbytes' is less, with as much of it? */
static bool
begins(const uint8_t *p, size_t nbytes, const char *text)
{
	const size_t length = strlen(text);

	return memcmp(p, text, nbytes < length ? nbytes : length) == 0;
}

/* Behind the blanks, declaration and comments in front of a document; NULL: they do
 * not end here. */
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

/* Where the prolog is longer than what there is to see, the parser will tell. */
bool
xml_recognise(const uint8_t *bytes, size_t nbytes)
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
	/* "hatf" is not all of a longer name. */
	if (begins(p, (size_t)(end - p), "<hatf"))
		return end - p <= 5 || strchr(" \t\r\n/>", p[5]) != NULL;
	return begins(p, (size_t)(end - p), "<!DOCTYPE hatf");
}

const struct source_ops xml_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
