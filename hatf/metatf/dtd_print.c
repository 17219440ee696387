/* SPDX-License-Identifier: MIT */
/* dtd_print.c - see dtd_print.h */
#include "hatf/metatf/dtd_print.h"

#include "hatf/metatf/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* put_space() breaks a line before a word that would exceed this column. */
#define LINE_COLUMNS 79
#define TAB_COLUMNS  8

struct printer {
	FILE *f;
	const struct dtd *dtd;
	enum dtd_dialect to;
	unsigned tag_shift;
	unsigned indent, column;
};

/* --------------------------------------------------------------------- text */

static void
put(struct printer *p, const char *text)
{
	fputs(text, p->f);
	p->column += (unsigned)strlen(text);
}

static void
begin_line(struct printer *p)
{
	for (unsigned i = 0; i < p->indent; i++)
		fputc('\t', p->f);
	p->column = p->indent * TAB_COLUMNS;
}

static void
end_line(struct printer *p)
{
	fputc('\n', p->f);
	p->column = 0;
}

/* Print a blank, or begin a new line if the next word does not fit. */
static void
put_space(struct printer *p, size_t word_nbytes)
{
	if (p->column + 1 + word_nbytes <= LINE_COLUMNS) {
		put(p, " ");
		return;
	}
	end_line(p);
	p->indent += 2;
	begin_line(p);
	p->indent -= 2;
}

static void
put_number(struct printer *p, const struct dtd_number *n)
{
	char text[40];

	if (n->is_negative && n->value != 0)
		snprintf(text, sizeof(text),
			 n->is_hex ? "-0x%" PRIx64 : "-%" PRIu64, 0 - n->value);
	else
		snprintf(text, sizeof(text),
			 n->is_hex ? "0x%" PRIx64 : "%" PRIu64, n->value);
	put(p, text);
}

static void
put_string(struct printer *p, const char *text)
{
	put(p, "\"");
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			put(p, "\\");
		fputc(*text, p->f);
		p->column++;
	}
	put(p, "\"");
}

/* ----------------------------------------------------------------- comments */

/*
 * Print a line of a comment without the blanks at its start and end.  If the
 * line then begins with '*', print one blank before it.  Omit an empty line.
 */
static void
print_comment_line(struct printer *p, const char *line, size_t nbytes)
{
	enum dtd_dialect dialect;

	while (nbytes != 0 && (*line == ' ' || *line == '\t')) {
		line++;
		nbytes--;
	}
	while (nbytes != 0 && line[nbytes - 1] == ' ')
		nbytes--;
	/*
	 * The first line of the output names the version, so skip lines that
	 * name a version.
	 */
	if (nbytes == 0 || dtd_names_version(line, nbytes, &dialect))
		return;
	begin_line(p);
	if (*line == '*')
		put(p, " ");
	fwrite(line, 1, nbytes, p->f);
	end_line(p);
}

static void
print_comment(struct printer *p, const char *comment)
{
	while (comment != NULL && *comment != '\0') {
		const size_t nbytes = strcspn(comment, "\n");

		print_comment_line(p, comment, nbytes);
		comment += nbytes + (comment[nbytes] == '\n');
	}
}

/*
 * Does the comment have only one line?  If so, it is printed after the
 * definition, on the same line.
 */
static bool
is_short(const char *comment)
{
	return comment != NULL && strchr(comment, '\n') == NULL;
}

static void
print_comments_before(struct printer *p, const char *comment,
		      const char *trailing)
{
	print_comment(p, comment);
	if (!is_short(trailing))
		print_comment(p, trailing);
}

/* Print a short comment after a definition, and end the line. */
static void
print_comment_after(struct printer *p, const char *trailing)
{
	if (is_short(trailing)) {
		size_t nbytes = strlen(trailing);

		while (nbytes != 0 && trailing[nbytes - 1] == ' ')
			nbytes--;
		put(p, " ");
		fwrite(trailing, 1, nbytes, p->f);
	}
	end_line(p);
}

/* --------------------------------------------------------------- properties */

static bool
is_field(const struct dtd_property *p, const char *field, const char *name)
{
	return strcmp(p->field, field) == 0 && strcmp(p->name, name) == 0;
}

static const struct dtd_property *
find_property(const struct dtd_property *first, const char *field,
	      const char *name)
{
	const struct dtd_property *p = first;

	while (p != NULL && !is_field(p, field, name))
		p = p->next;
	return p;
}

/* Do the properties from 'first' on make 'field' a field of bytes? */
static bool
makes_bytes(const struct dtd_property *first, const char *field)
{
	const struct dtd_property *const width =
		find_property(first, field, "width");

	return width != NULL &&
	       (width->value.kind == DTD_REFERENCE
			? strcmp(width->value.property, "value") == 0
			: width->value.args[0].value > 8);
}

static void
put_interpretation(struct printer *p, const struct dtd_value *v)
{
	put(p, dtd_interpretation_name(v->interpretation));
	for (unsigned i = 0; i < dtd_argument_count(v->interpretation); i++) {
		put(p, " ");
		put_number(p, &v->args[i]);
	}
}

static void
put_value(struct printer *p, const struct dtd_property *property)
{
	const struct dtd_value *const v = &property->value;
	struct dtd_number tag = v->args[0];

	switch (v->kind) {
	case DTD_NUMBER:
		if (is_field(property, "tag", "value"))
			tag.value += p->tag_shift;
		put_number(p, &tag);
		break;
	case DTD_REFERENCE:
		put(p, v->field);
		put(p, ".");
		put(p, v->property);
		break;
	case DTD_STRING:
		put_string(p, v->text);
		break;
	default:
		put_interpretation(p, v);
		break;
	}
}

static void
print_line(struct printer *p, const char *line)
{
	begin_line(p);
	put(p, line);
	end_line(p);
}

/*
 * Print a string of dialect 1.2 as the record that replaces the string in the
 * other dialects.
 */
static void
print_text_record(struct printer *p, const struct dtd_property *property)
{
	begin_line(p);
	put(p, property->field);
	put(p, " : (length,");
	put_space(p, strlen("data") + 1);
	put(p, "data) {");
	end_line(p);
	p->indent++;
	print_line(p, "length.width = 2;");
	print_line(p, property->value.text != NULL
			      ? "length.interpretation = default 0;"
			      : "length.interpretation = none;");
	print_line(p, "data.width = length.value;");
	print_line(p, "data.interpretation = none;");
	p->indent--;
	begin_line(p);
	put(p, "}");
	end_line(p);
}

/* Print FIELD.NAME = VALUE; */
static void
print_full_property(struct printer *p, const struct dtd_property *property)
{
	print_comments_before(p, property->comment, property->trailing);
	begin_line(p);
	put(p, property->field);
	put(p, ".");
	put(p, property->name);
	put(p, " = ");
	put_value(p, property);
	put(p, ";");
	print_comment_after(p, property->trailing);
}

/*
 * Print a property in the form of dialects 1.0 and 1.1, whatever the dialect of
 * the DTD is.
 */
static void
print_property_1_0(struct printer *p, const struct dtd_property *property)
{
	/*
	 * Omit a string here, because print_texts() prints a record for it.
	 * But print_texts() ignores a string that a record declares in its
	 * braces.  is_valid() then refuses the output, which lacks the string.
	 */
	if (property->type == DTD_TEXT)
		return;
	if (property->type == DTD_INT) {
		print_comment(p, property->comment);
		begin_line(p);
		put(p, property->field);
		put(p, ".width = 8;");
		end_line(p);
	}
	struct dtd_property rest = *property;

	if (property->type == DTD_INT)
		rest.comment = NULL;
	print_full_property(p, &rest);
}

/*
 * Print a property in dialect 1.2, unless it is a width.  'first' is the first
 * property of the same scope.
 */
static void
print_property_1_2(struct printer *p, const struct dtd_property *property,
		   const struct dtd_property *first, bool is_in_record)
{
	const bool is_tag = is_field(property, "tag", "value");

	if (strcmp(property->name, "width") == 0)
		return;
	if (strcmp(property->name, "interpretation") != 0 && !is_tag) {
		print_full_property(p, property);
		return;
	}
	print_comments_before(p, property->comment, property->trailing);
	begin_line(p);
	if (property->type == DTD_TEXT || makes_bytes(first, property->field))
		put(p, "string ");
	else if (!is_tag && (!is_in_record || property->type == DTD_INT))
		put(p, "int ");
	put(p, property->field);
	put(p, " = ");
	if (property->value.text != NULL) {
		put(p, "default ");
		put_string(p, property->value.text);
	} else {
		put_value(p, property);
	}
	put(p, ";");
	print_comment_after(p, property->trailing);
}

static void
print_properties(struct printer *p, const struct dtd_property *first,
		 bool is_in_record)
{
	for (const struct dtd_property *q = first; q != NULL; q = q->next) {
		if (p->to == DTD_1_2)
			print_property_1_2(p, q, first, is_in_record);
		else
			print_property_1_0(p, q);
	}
}

/* ------------------------------------------------------------------ records */

static void put_field(struct printer *p, const struct dtd_field *f);

static void
put_group(struct printer *p, const struct dtd_field *group)
{
	put(p, p->to == DTD_1_2 ? "{" : "(");
	for (const struct dtd_field *f = group->first; f != NULL; f = f->next) {
		put_field(p, f);
		if (f->next != NULL) {
			put(p, ",");
			put_space(p, f->next->name != NULL
					     ? strlen(f->next->name) + 1
					     : 1);
		}
	}
	put(p, p->to == DTD_1_2 ? "}" : ")");
}

/* If a record has properties, print them in braces. */
static void
put_braces(struct printer *p, const struct dtd_record *r)
{
	if (r->properties == NULL)
		return;
	put(p, " {");
	end_line(p);
	p->indent++;
	print_properties(p, r->properties, true);
	p->indent--;
	begin_line(p);
	put(p, "}");
}

/* Does this record consist of a length, and a field of as many bytes? */
static bool
is_text(const struct dtd_record *r)
{
	const struct dtd_field *const f = r->field;
	const struct dtd_field *const second =
		f->kind == DTD_GROUP ? f->first->next : NULL;
	const struct dtd_property *width;

	if (second == NULL || second->next != NULL ||
	    f->first->kind != DTD_NAME || second->kind != DTD_NAME)
		return false;
	width = find_property(r->properties, second->name, "width");
	return width != NULL && width->value.kind == DTD_REFERENCE &&
	       strcmp(width->value.field, f->first->name) == 0 &&
	       strcmp(width->value.property, "value") == 0;
}

static void
put_field(struct printer *p, const struct dtd_field *f)
{
	if (f->name != NULL)
		put(p, f->name);
	switch (f->kind) {
	case DTD_NAME:
		break;
	case DTD_GROUP:
		put_group(p, f);
		break;
	case DTD_NESTED:
		put(p, " : ");
		put_field(p, f->record->field);
		put_braces(p, f->record);
		break;
	default:
		put(p, "*");
		put_field(p, f->first);
		break;
	}
}

static void
print_record(struct printer *p, const struct dtd_record *r)
{
	print_comments_before(p, r->comment, r->trailing);
	begin_line(p);
	put(p, r->name);
	put(p, " : ");
	put_field(p, r->field);
	put_braces(p, r);
	print_comment_after(p, r->trailing);
}

static void
print_records(struct printer *p, const struct dtd_record *first)
{
	for (const struct dtd_record *r = first; r != NULL; r = r->next)
		if (p->to != DTD_1_2 || !is_text(r))
			print_record(p, r);
}

/*
 * In dialect 1.2, print as strings the records for which is_text() is true.  In
 * the other dialects, print each string with print_text_record().
 */
static void
print_texts(struct printer *p, const struct dtd_defs *defs)
{
	for (const struct dtd_record *r = defs->records;
	     p->to == DTD_1_2 && r != NULL; r = r->next) {
		if (!is_text(r))
			continue;
		print_comments_before(p, r->comment, r->trailing);
		begin_line(p);
		put(p, "string ");
		put(p, r->name);
		put(p, " = none;");
		print_comment_after(p, r->trailing);
	}
	for (const struct dtd_property *q = defs->properties;
	     p->to != DTD_1_2 && q != NULL; q = q->next)
		if (q->type == DTD_TEXT) {
			print_comments_before(p, q->comment, q->trailing);
			print_text_record(p, q);
		}
}

static void
print_defs(struct printer *p, const struct dtd_defs *defs)
{
	print_properties(p, defs->properties, false);
	print_texts(p, defs);
	print_records(p, defs->records);
}

static void
print_section(struct printer *p, const struct dtd_section *s)
{
	char number[20];

	end_line(p);
	print_comments_before(p, s->comment, s->trailing);
	begin_line(p);
	put(p, "section ");
	put(p, s->name);
	snprintf(number, sizeof(number), " %u {", s->number);
	put(p, number);
	end_line(p);
	p->indent++;
	print_defs(p, &s->defs);
	print_comment(p, s->defs.comment);
	p->indent--;
	put(p, "}");
	print_comment_after(p, s->trailing);
}

/* ---------------------------------------------------------------------- DTD */

/*
 * Does 'is_so' return true for any record of the DTD?  Ignore records that are
 * defined inside fields.
 */
static bool
any_record(const struct dtd *dtd, bool (*is_so)(const struct dtd_record *r))
{
	for (const struct dtd_record *r = dtd->defs.records; r != NULL;
	     r = r->next)
		if (is_so(r))
			return true;
	for (const struct dtd_section *s = dtd->sections; s != NULL;
	     s = s->next)
		for (const struct dtd_record *r = s->defs.records; r != NULL;
		     r = r->next)
			if (is_so(r))
				return true;
	return false;
}

static bool
has_low_tag(const struct dtd_record *r)
{
	const struct dtd_property *const tag =
		find_property(r->properties, "tag", "value");

	return tag != NULL && tag->value.kind == DTD_NUMBER &&
	       tag->value.args[0].value >= 1 && tag->value.args[0].value <= 3;
}

static bool
field_uses_vfield(const struct dtd_field *f)
{
	if (f->name != NULL && f->kind == DTD_NAME &&
	    strcmp(f->name, "vfield") == 0)
		return true;
	if (f->kind == DTD_NESTED)
		return field_uses_vfield(f->record->field);
	for (const struct dtd_field *c = f->first; c != NULL; c = c->next)
		if (field_uses_vfield(c))
			return true;
	return false;
}

static bool
uses_vfield(const struct dtd_record *r)
{
	return field_uses_vfield(r->field);
}

/*
 * In dialect 1.2, print the DTD's header: its first lines, which begin with ##.
 * In the other dialects, or if the DTD has no header, print a line that names
 * the dialect.
 */
static void
print_header(struct printer *p)
{
	const char *const header = p->to == DTD_1_2 ? p->dtd->header : NULL;
	const size_t nbytes = header != NULL ? strlen(header) : 0;

	if (header != NULL) {
		put(p, header);
	} else {
		put(p,
		    p->to == DTD_1_2 ? "## MetaTF: " : "// Meta-TF version ");
		put(p, dtd_dialect_name(p->to));
	}
	if (header == NULL || header[nbytes - 1] != '\n')
		end_line(p);
	end_line(p);
}

static void
print_all(struct printer *p)
{
	print_header(p);
	if (p->to == DTD_1_2 && p->dtd->dialect != DTD_1_2 &&
	    any_record(p->dtd, uses_vfield))
		print_line(p, "string vfield = none;");
	print_defs(p, &p->dtd->defs);
	for (const struct dtd_section *s = p->dtd->sections; s != NULL;
	     s = s->next)
		print_section(p, s);
	print_comment(p, p->dtd->defs.comment);
}

/* Is the text a valid DTD of its dialect?  If not, set '*err'. */
static bool
is_valid(const char *text, size_t nbytes, struct dtd_error *err)
{
	struct dtd *const dtd = dtd_parse(text, nbytes, err);
	struct schema *const schema =
		dtd != NULL ? schema_open(dtd, NULL, NULL, err) : NULL;
	const bool ok = schema != NULL;

	schema_close(schema);
	dtd_close(dtd);
	return ok;
}

bool
dtd_print(FILE *f, const struct dtd *dtd, enum dtd_dialect to,
	  struct dtd_error *err)
{
	struct printer p = { .dtd = dtd, .to = to };
	char *text = NULL;
	size_t nbytes = 0;
	bool ok;

	*err = (struct dtd_error){ .text = "no memory" };
	p.f = open_memstream(&text, &nbytes);
	if (p.f == NULL)
		return false;
	if (to == DTD_1_0 && dtd->dialect != DTD_1_0 &&
	    any_record(dtd, has_low_tag))
		p.tag_shift = 3;
	print_all(&p);
	ok = !ferror(p.f);
	ok = fclose(p.f) == 0 && ok;
	if (ok && to != dtd->dialect)
		ok = is_valid(text, nbytes, err);
	if (ok)
		fwrite(text, 1, nbytes, f);
	free(text);
	return ok;
}
