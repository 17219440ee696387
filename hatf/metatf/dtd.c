/* SPDX-License-Identifier: MIT */
/*
 * dtd.c - see dtd.h
 *
 * A recursive-descent parser with one token of lookahead.  The grammar needs no
 * more: after a name, '.' begins a property, ':' a record and '*' a
 * repetition.  The parser is written by hand, so its messages can use the terms
 * of the language, and a counter can limit the nesting.
 */
#include "hatf/metatf/dtd.h"

#include "hatf/metatf/arena.h"
#include "hatf/metatf/lexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A DTD, and the memory of all its parts. */
struct owned_dtd {
	/*
	 * The first member, so that dtd_close() can cast a pointer to 'dtd' to
	 * a pointer to the whole struct.
	 */
	struct dtd dtd;
	struct arena arena;
};

struct parser {
	struct lexer lexer;
	struct arena *arena;
	struct dtd *dtd;
	unsigned depth;
	bool uses_braces; /* fields are in braces, as in dialect 1.2 */
};

/* ------------------------------------------------------------------ helpers */

static bool
is_mark(const struct parser *p, char mark)
{
	const struct token *const t = &p->lexer.token;

	return t->kind == TOKEN_MARK && t->mark == mark;
}

static bool
is_word(const struct parser *p, const char *word)
{
	const struct token *const t = &p->lexer.token;

	return t->kind == TOKEN_NAME && strcmp(t->text, word) == 0;
}

/*
 * If the current token is the mark 'mark', step over it.  Otherwise, fail with
 * a message that says that 'want' was expected.
 */
static bool
take_mark(struct parser *p, char mark, const char *want)
{
	return is_mark(p, mark) ? lexer_step(&p->lexer)
				: lexer_expected(&p->lexer, want);
}

/* Step over a name and return it, or NULL on failure. */
static const char *
take_name(struct parser *p, const char *want)
{
	const char *const name = p->lexer.token.text;

	if (p->lexer.token.kind != TOKEN_NAME) {
		lexer_expected(&p->lexer, want);
		return NULL;
	}
	return lexer_step(&p->lexer) ? name : NULL;
}

static bool
take_number(struct parser *p, const char *want, struct dtd_number *n_ret)
{
	if (p->lexer.token.kind != TOKEN_NUMBER)
		return lexer_expected(&p->lexer, want);
	*n_ret = p->lexer.token.number;
	return lexer_step(&p->lexer);
}

/* Allocate a part of the DTD; return NULL on failure. */
static void *
make(struct parser *p, size_t nbytes)
{
	void *const part = arena_get(p->arena, nbytes);

	if (part == NULL)
		lexer_fail(&p->lexer, p->lexer.token.place, "no memory");
	return part;
}

/* Enter a level of nesting.  Fail if there are too many. */
static bool
enter(struct parser *p)
{
	if (++p->depth > DTD_MAX_DEPTH)
		return lexer_fail(&p->lexer, p->lexer.token.place,
				  "records and fields are nested more than %d "
				  "deep",
				  DTD_MAX_DEPTH);
	return true;
}

static void
leave(struct parser *p)
{
	p->depth--;
}

/* ------------------------------------------------------------------- values */

/* Parse the arguments of an interpretation, after its name. */
static bool
parse_arguments(struct parser *p, struct dtd_value *v)
{
	const unsigned count = dtd_argument_count(v->interpretation);

	if (v->interpretation == DTD_DEFAULT &&
	    p->lexer.token.kind == TOKEN_STRING && p->dtd->dialect == DTD_1_2) {
		v->text = p->lexer.token.text;
		return lexer_step(&p->lexer);
	}
	for (unsigned i = 0; i < count; i++)
		if (!take_number(p,
				 count == 1 ? "a number"
				 : i == 0   ? "two numbers"
					    : "a second number",
				 &v->args[i]))
			return false;
	return true;
}

/* Parse a reference or an interpretation: a value that begins with a name. */
static bool
parse_named_value(struct parser *p, struct dtd_value *v)
{
	const char *const name = take_name(p, "a value");

	if (name == NULL)
		return false;
	if (is_mark(p, '.')) {
		v->kind = DTD_REFERENCE;
		v->field = name;
		if (!lexer_step(&p->lexer))
			return false;
		v->property = take_name(p, "the name of a property");
		return v->property != NULL;
	}
	for (unsigned i = DTD_NONE; i <= DTD_SECTION_STRIDE; i++)
		if (strcmp(name, dtd_interpretation_name(i)) == 0) {
			v->kind = DTD_INTERPRETATION;
			v->interpretation = i;
			return parse_arguments(p, v);
		}
	return lexer_fail(&p->lexer, v->place,
			  "expected a number, FIELD.PROPERTY, a string or an "
			  "interpretation, found '%.60s'",
			  name);
}

static bool
parse_value(struct parser *p, struct dtd_value *v)
{
	*v = (struct dtd_value){ .place = p->lexer.token.place };
	switch (p->lexer.token.kind) {
	case TOKEN_NUMBER:
		v->kind = DTD_NUMBER;
		return take_number(p, "a number", &v->args[0]);
	case TOKEN_STRING:
		v->kind = DTD_STRING;
		v->text = p->lexer.token.text;
		return lexer_step(&p->lexer);
	default:
		return parse_named_value(p, v);
	}
}

/* -------------------------------------------------------------- definitions */

/* Parse the rest of a property, from the '=' after its name. */
static bool
finish_property(struct parser *p, struct dtd_property *property)
{
	if (!take_mark(p, '=', "'='") || !parse_value(p, &property->value) ||
	    !take_mark(p, ';', "';'"))
		return false;
	property->trailing = lexer_take_trailing(&p->lexer);
	return true;
}

/*
 * In dialect 1.2, a DTD may write FIELD = VALUE, without the name of the
 * property.  Set this name: "value" if VALUE is a number ("tag = 1"),
 * "interpretation" if VALUE is an interpretation ("size = none").  Refuse all
 * other values.
 */
static bool
name_property_1_2(struct parser *p, struct dtd_property *property)
{
	const struct dtd_value *const v = &property->value;

	property->name =
		v->kind == DTD_INTERPRETATION ? "interpretation" : "value";
	return v->kind == DTD_INTERPRETATION || v->kind == DTD_NUMBER ||
	       lexer_fail(&p->lexer, v->place,
			  "expected a number or an interpretation");
}

/* Parse the rest of a property after the name of its field. */
static struct dtd_property *
parse_property(struct parser *p, const char *field, struct dtd_place place)
{
	struct dtd_property *const property = make(p, sizeof(*property));

	if (property == NULL)
		return NULL;
	property->place = place;
	property->owner = p->dtd;
	property->ordinal = p->dtd->property_count++;
	property->field = field;
	if (p->dtd->dialect == DTD_1_2 && !is_mark(p, '.'))
		return finish_property(p, property) &&
				       name_property_1_2(p, property)
			       ? property
			       : NULL;
	if (!take_mark(p, '.', "'.' or ':'"))
		return NULL;
	property->name = take_name(p, "the name of a property");
	return property->name != NULL && finish_property(p, property) ? property
								      : NULL;
}

/*
 * Parse the rest of "int NAME = INTERPRETATION;" or "string NAME =
 * INTERPRETATION;" of dialect 1.2, from NAME on.
 */
static struct dtd_property *
parse_declaration(struct parser *p, enum dtd_type type)
{
	struct dtd_property *const property = make(p, sizeof(*property));

	if (property == NULL)
		return NULL;
	property->place = p->lexer.token.place;
	property->owner = p->dtd;
	property->ordinal = p->dtd->property_count++;
	property->type = type;
	property->name = "interpretation";
	property->field = take_name(p, "the name of a field");
	if (property->field == NULL || !finish_property(p, property))
		return NULL;
	if (property->value.kind != DTD_INTERPRETATION) {
		lexer_fail(&p->lexer, property->value.place,
			   "expected an interpretation");
		return NULL;
	}
	return property;
}

/*
 * Parse the rest of a property.  The caller has read 'name', the first word of
 * the property: the name of a field or, in dialect 1.2, possibly a type ("int"
 * or "string").  Return NULL on failure.
 */
static struct dtd_property *
parse_any_property(struct parser *p, const char *name, struct dtd_place place)
{
	const bool is_typed =
		p->dtd->dialect == DTD_1_2 && p->lexer.token.kind == TOKEN_NAME;

	if (is_typed && strcmp(name, "int") == 0)
		return parse_declaration(p, DTD_INT);
	if (is_typed && strcmp(name, "string") == 0)
		return parse_declaration(p, DTD_TEXT);
	return parse_property(p, name, place);
}

/*
 * Fail if ':' comes after 'name', because the braces of a record may contain
 * only properties, not records.
 */
static bool
check_no_record(struct parser *p, const char *name)
{
	return !is_mark(p, ':') ||
	       lexer_fail(&p->lexer, p->lexer.token.place,
			  "the braces of a record hold only properties: "
			  "define record '%.60s' among the fields, or outside "
			  "the record",
			  name);
}

/* If the current token is '{', parse the properties up to '}'. */
static bool
parse_properties(struct parser *p, struct dtd_record *record)
{
	struct dtd_property **end = &record->properties;

	if (!is_mark(p, '{'))
		return true;
	if (!lexer_step(&p->lexer))
		return false;
	while (!is_mark(p, '}')) {
		const struct dtd_place place = p->lexer.token.place;
		const char *const comment = lexer_take_comment(&p->lexer);
		const char *const field =
			take_name(p, "the name of a field or '}'");

		*end = field != NULL && check_no_record(p, field)
			       ? parse_any_property(p, field, place)
			       : NULL;
		if (*end == NULL)
			return false;
		(*end)->comment = comment;
		end = &(*end)->next;
	}
	return lexer_step(&p->lexer);
}

static struct dtd_field *parse_field(struct parser *p, bool is_simple);

/* Parse the rest of a record, from the ':' after its name. */
static struct dtd_record *
parse_record(struct parser *p, const char *name, struct dtd_place place)
{
	struct dtd_record *const record = make(p, sizeof(*record));

	if (record == NULL || !take_mark(p, ':', "':'"))
		return NULL;
	record->owner = p->dtd;
	record->ordinal = p->dtd->record_count++;
	record->place = place;
	record->name = name;
	record->field = parse_field(p, false);
	if (record->field == NULL || !parse_properties(p, record))
		return NULL;
	record->trailing = lexer_take_trailing(&p->lexer);
	return record;
}

/* Parse a group, from its opening mark to its closing mark. */
static bool
parse_group(struct parser *p, struct dtd_field *group)
{
	const char close = p->uses_braces ? '}' : ')';
	struct dtd_field **end = &group->first;

	group->kind = DTD_GROUP;
	do {
		if (!lexer_step(&p->lexer))
			return false;
		*end = parse_field(p, false);
		if (*end == NULL)
			return false;
		end = &(*end)->next;
	} while (is_mark(p, ','));
	return take_mark(p, close,
			 p->uses_braces ? "',' or '}'" : "',' or ')'");
}

/* Parse a field that begins with a name. */
static bool
parse_named_field(struct parser *p, struct dtd_field *f, bool is_simple)
{
	f->name = take_name(p, "the name of a field");
	if (f->name == NULL)
		return false;
	if (is_mark(p, '*') && !is_simple) {
		f->kind = DTD_REPEAT;
		if (!lexer_step(&p->lexer))
			return false;
		f->first = parse_field(p, true);
		return f->first != NULL;
	}
	if (is_mark(p, ':') && !is_simple) {
		f->kind = DTD_NESTED;
		f->record = parse_record(p, f->name, f->place);
		return f->record != NULL;
	}
	f->kind = DTD_NAME;
	return true;
}

/* Parse a field.  If 'is_simple' is true, accept only a name or a group. */
static struct dtd_field *
parse_field(struct parser *p, bool is_simple)
{
	struct dtd_field *const f = make(p, sizeof(*f));
	bool ok;

	if (f == NULL || !enter(p))
		return NULL;
	f->place = p->lexer.token.place;
	if (is_mark(p, p->uses_braces ? '{' : '('))
		ok = parse_group(p, f);
	else if (p->lexer.token.kind == TOKEN_NAME)
		ok = parse_named_field(p, f, is_simple);
	else
		ok = lexer_expected(&p->lexer, p->uses_braces
						       ? "a field or '{'"
						       : "a field or '('");
	leave(p);
	return ok ? f : NULL;
}

/* Where to append the next definition of each kind. */
struct defs_end {
	struct dtd_property **property;
	struct dtd_record **record;
};

/* Parse a property or a record. */
static bool
parse_def(struct parser *p, struct defs_end *end)
{
	const struct dtd_place place = p->lexer.token.place;
	const char *const comment = lexer_take_comment(&p->lexer);
	const char *const name = take_name(p, "a definition");

	if (name == NULL)
		return false;
	if (is_mark(p, ':')) {
		*end->record = parse_record(p, name, place);
		if (*end->record == NULL)
			return false;
		(*end->record)->comment = comment;
		end->record = &(*end->record)->next;
		return true;
	}
	*end->property = parse_any_property(p, name, place);
	if (*end->property == NULL)
		return false;
	(*end->property)->comment = comment;
	end->property = &(*end->property)->next;
	return true;
}

/*
 * Fail, because the current token does not begin a definition.  If the token is
 * a ';', which is a common mistake, the message says where a ';' may stand.
 */
static bool
expected_definition(struct parser *p, const char *want)
{
	if (is_mark(p, ';'))
		return lexer_fail(&p->lexer, p->lexer.token.place,
				  "remove this ';': only a property ends with "
				  "';'");
	return lexer_expected(&p->lexer, want);
}

/* Parse the definitions of a section, up to its '}'. */
static bool
parse_section_defs(struct parser *p, struct dtd_defs *defs)
{
	struct defs_end end = { &defs->properties, &defs->records };

	while (!is_mark(p, '}')) {
		if (p->lexer.token.kind != TOKEN_NAME)
			return expected_definition(
				p, "a record, a property or '}'");
		if (!parse_def(p, &end))
			return false;
	}
	defs->comment = lexer_take_comment(&p->lexer);
	return lexer_step(&p->lexer);
}

/* Parse a section, after the word "section". */
static struct dtd_section *
parse_section(struct parser *p, struct dtd_place place, const char *comment)
{
	struct dtd_section *const section = make(p, sizeof(*section));
	struct dtd_place number_place;
	struct dtd_number number = { 0 };

	if (section == NULL)
		return NULL;
	section->place = place;
	section->comment = comment;
	section->name = take_name(p, "the name of a section");
	number_place = p->lexer.token.place;
	if (section->name == NULL ||
	    !take_number(p, "the number of a section", &number))
		return NULL;
	if (number.value < 1 || number.value > UINT8_MAX) {
		lexer_fail(&p->lexer, number_place,
			   "the number of a section must be 1 to 255");
		return NULL;
	}
	section->number = (uint8_t)number.value;
	if (!take_mark(p, '{', "'{'") || !parse_section_defs(p, &section->defs))
		return NULL;
	section->trailing = lexer_take_trailing(&p->lexer);
	return section;
}

/*
 * Does a section begin at the current token?  A section begins with the word
 * "section"; dialect 1.1 also allows "Section".
 */
static bool
begins_section(const struct parser *p)
{
	return is_word(p, "section") ||
	       (p->dtd->dialect == DTD_1_1 && is_word(p, "Section"));
}

static bool
parse_dtd(struct parser *p)
{
	struct defs_end end = { &p->dtd->defs.properties,
				&p->dtd->defs.records };
	struct dtd_section **section = &p->dtd->sections;

	while (p->lexer.token.kind != TOKEN_END) {
		const struct dtd_place place = p->lexer.token.place;

		if (!begins_section(p)) {
			if (p->lexer.token.kind != TOKEN_NAME)
				return expected_definition(
					p, "a section, a record or a property");
			if (!parse_def(p, &end))
				return false;
			continue;
		}
		const char *const comment = lexer_take_comment(&p->lexer);

		*section = lexer_step(&p->lexer)
				   ? parse_section(p, place, comment)
				   : NULL;
		if (*section == NULL)
			return false;
		section = &(*section)->next;
	}
	p->dtd->defs.comment = lexer_take_comment(&p->lexer);
	return true;
}

/* ----------------------------------------------------------------- dialects */

/*
 * Return the length of the lines at the start of the text that begin with "##".
 */
static size_t
header_nbytes(const char *text, size_t nbytes)
{
	size_t done = 0;

	while (nbytes - done >= 2 && memcmp(text + done, "##", 2) == 0) {
		const char *const newline =
			memchr(text + done, '\n', nbytes - done);

		done = newline != NULL ? (size_t)(newline + 1 - text) : nbytes;
	}
	return done;
}

/*
 * Find the first line of the comments in 'span' that names a version, and set
 * '*dialect' to this version.  Return false if no line names a version.
 */
static bool
span_names(const struct comment_span *span, enum dtd_dialect *dialect)
{
	const char *line = span->begin;

	while (line != NULL && line < span->end) {
		const size_t left = (size_t)(span->end - line);
		const char *const newline = memchr(line, '\n', left);
		const size_t nbytes =
			newline != NULL ? (size_t)(newline - line) : left;

		if (dtd_names_version(line, nbytes, dialect))
			return true;
		line += nbytes + 1;
	}
	return false;
}

/*
 * Determine the dialect.  Call this after reading the first token.  The dialect
 * is 1.2 if the DTD has a header with ##, or if the first definition is a
 * declaration with a type.  Otherwise, the dialect is the one that a comment
 * before the first definition names, or 1.0 if no such comment names one.
 */
static void
tell_dialect(struct parser *p)
{
	const struct lexer *const x = &p->lexer;
	const bool is_typed = is_word(p, "int") || is_word(p, "string");
	const char *next = x->next;

	while (next < x->end && (*next == ' ' || *next == '\t'))
		next++;
	if (!span_names(&x->trailing, &p->dtd->dialect))
		span_names(&x->comment, &p->dtd->dialect);
	if (p->dtd->header != NULL ||
	    (is_typed && next > x->next && next < x->end && *next != '.' &&
	     *next != ':'))
		p->dtd->dialect = DTD_1_2;
	p->uses_braces = p->dtd->dialect == DTD_1_2;
}

/*
 * Copy the lines with "##" to the DTD, with blanks for control characters, and
 * add the number of these lines to the lexer's line number.  Return false if
 * there is no memory.
 */
static bool
take_header(struct parser *p, const char *text, size_t nbytes)
{
	char *const header = arena_text(p->arena, text, nbytes);

	if (header == NULL)
		return false;
	for (size_t i = 0; i < nbytes; i++) {
		if (header[i] == '\n')
			p->lexer.place.line++;
		else if ((unsigned char)header[i] < ' ')
			header[i] = ' ';
	}
	p->dtd->header = header;
	return true;
}

static bool
refuse(const char *text, size_t nbytes, struct dtd_error *err)
{
	*err = (struct dtd_error){ .place = { 1, 1 } };
	if (nbytes > DTD_MAX_NBYTES)
		snprintf(err->text, sizeof(err->text),
			 "this DTD is longer than %zu bytes", DTD_MAX_NBYTES);
	else if (nbytes != 0 && text[0] == '<')
		snprintf(err->text, sizeof(err->text),
			 "this is a DTD of XML, not of Meta-TF");
	else
		return false;
	return true;
}

struct dtd *
dtd_parse(const char *text, size_t nbytes, struct dtd_error *err)
{
	struct owned_dtd *owned;
	struct parser p = { 0 };
	size_t skipped;
	bool ok = true;

	if (refuse(text, nbytes, err))
		return NULL;
	owned = calloc(1, sizeof(*owned));
	if (owned == NULL) {
		snprintf(err->text, sizeof(err->text), "no memory");
		return NULL;
	}
	skipped = header_nbytes(text, nbytes);
	p.arena = &owned->arena;
	p.dtd = &owned->dtd;
	lexer_init(&p.lexer, p.arena, text + skipped, nbytes - skipped, err);
	if (skipped != 0)
		ok = take_header(&p, text, skipped) ||
		     lexer_fail(&p.lexer, p.lexer.place, "no memory");
	ok = ok && lexer_step(&p.lexer);
	if (ok) {
		tell_dialect(&p);
		ok = parse_dtd(&p);
	}
	/*
	 * If the lexer has failed although all steps succeeded, there was no
	 * memory to copy a comment.
	 */
	if (ok && !p.lexer.has_failed)
		return p.dtd;
	dtd_close(p.dtd);
	return NULL;
}

void
dtd_close(struct dtd *dtd)
{
	struct owned_dtd *const owned = (struct owned_dtd *)dtd;

	if (owned != NULL) {
		arena_fini(&owned->arena);
		free(owned);
	}
}
