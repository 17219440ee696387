/* SPDX-License-Identifier: MIT */
/*
 * schema_build.c - see schema_build.h
 *
 * expand() walks the tree of a record's fields once, in the order of the trace.
 * A name in the tree refers to a record or to a field.  For a record, expand()
 * adds the fields of that record to the draft (schema_draft.h).  For a field,
 * expand() adds one field, with the properties that the DTD gives the field.
 * For a string of dialect 1.2, expand() adds two fields, the length and the
 * bytes.
 */
#include "hatf/metatf/schema_build.h"

#include "hatf/metatf/schema_draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- properties */

static const struct dtd_property *
find_property(struct build *b, const struct scope *scope, const char *field,
	      const char *name)
{
	const struct dtd_property *p =
		definitions_property(b->definitions, scope, field, name);

	if (p != NULL) {
		b->is_used[p->ordinal] = true;
		return p;
	}
	return definitions_property(b->predefinitions, scope, field, name);
}

/*
 * While a property refers to the same property of another field ("record.width
 * = tag.width"), go on to that property.  Do not follow references to a value.
 * Return the last property, or NULL on failure.
 */
static const struct dtd_property *
follow(struct build *b, const struct scope *scope, const struct dtd_property *p)
{
	const struct dtd_property *next = p;

	for (unsigned i = 0; i < DTD_MAX_DEPTH; i++) {
		const struct dtd_value *const v = &next->value;

		if (v->kind != DTD_REFERENCE ||
		    strcmp(v->property, next->name) != 0 ||
		    strcmp(v->property, "value") == 0)
			return next;
		next = find_property(b, scope, v->field, v->property);
		if (next == NULL) {
			build_fail(b, v->place,
				   "property '%.60s.%.60s' is not defined",
				   v->field, v->property);
			return NULL;
		}
	}
	build_fail(b, p->place,
		   "property '%.60s.%.60s' refers to itself, or to a chain of "
		   "more than 32 properties",
		   p->field, p->name);
	return NULL;
}

/* ------------------------------------------------------------------ history */

/*
 * All fields whose interpretation is property 'p' share one previous value.
 * Return the index of this value in the section ('history' of struct
 * schema_field).  At the first call for 'p' in a section, take the next free
 * index.
 */
static uint32_t
history_of(struct build *b, const struct dtd_property *p)
{
	uint32_t *const history =
		&b->histories[p->owner == b->dtd
				      ? p->ordinal
				      : b->dtd->property_count + p->ordinal];

	if (*history == 0)
		*history = ++b->history_count;
	return *history - 1;
}

/* ------------------------------------------------------------------- fields */

/* Set the width from a width property, which is a number or FIELD.value. */
static bool
set_width(struct draft *d, struct schema_field *f, const struct dtd_property *p)
{
	const struct dtd_value *const v = &p->value;
	uint32_t from;

	if (v->kind == DTD_REFERENCE && strcmp(v->property, "value") == 0) {
		/*
		 * Hide 'f', the last field, from draft_earlier_field(), because
		 * the width of 'f' can only come from an earlier field.
		 */
		d->field_count--;
		from = draft_earlier_field(d, v->field);
		d->field_count++;
		if (from == SCHEMA_NO_FIELD)
			return build_fail(d->b, v->place,
					  "no field '%.60s' comes before "
					  "'%.60s'",
					  v->field, f->name);
		if (!draft_is_number(d, from))
			return build_fail(d->b, v->place,
					  "field '%.60s' is not a number",
					  v->field);
		f->width_from = from;
		f->is_bytes = true;
		return true;
	}
	if (v->kind != DTD_NUMBER || v->args[0].is_negative)
		return build_fail(d->b, v->place,
				  "expected a width: a number or FIELD.value");
	if (v->args[0].value > SCHEMA_MAX_WIDTH)
		return build_fail(d->b, v->place, "this width exceeds %u bytes",
				  SCHEMA_MAX_WIDTH);
	f->width = (uint32_t)v->args[0].value;
	f->is_bytes = f->width > 8;
	return true;
}

static bool
set_interpretation(struct draft *d, struct schema_field *f,
		   const struct dtd_property *p)
{
	const struct dtd_value *const v = &p->value;

	if (v->kind != DTD_INTERPRETATION)
		return build_fail(d->b, v->place, "expected an interpretation");
	if (v->text != NULL)
		return build_fail(
			d->b, v->place,
			"the default of a number field must not be text");
	f->interpretation = v->interpretation;
	for (unsigned i = 0; i < dtd_argument_count(v->interpretation); i++)
		f->args[i] = v->args[i].value;
	f->history = history_of(d->b, p);
	return true;
}

static bool
set_value(struct draft *d, struct schema_field *f, const struct dtd_property *p)
{
	const struct dtd_value *const v = &p->value;

	f->has_value = true;
	if (f->is_bytes)
		return build_fail(d->b, p->place,
				  "field '%.60s' is not a number", f->name);
	if (v->kind == DTD_NUMBER) {
		f->value = v->args[0].value;
		return true;
	}
	if (v->kind != DTD_REFERENCE || strcmp(v->property, "value") != 0)
		return build_fail(d->b, v->place,
				  "expected a number or FIELD.value");
	d->field_count--;
	f->value_from = draft_earlier_field(d, v->field);
	d->field_count++;
	if (f->value_from == SCHEMA_NO_FIELD)
		return build_fail(d->b, v->place,
				  "no field '%.60s' comes before '%.60s'",
				  v->field, f->name);
	return !d->fields[f->value_from].is_bytes ||
	       build_fail(d->b, v->place, "field '%.60s' is not a number",
			  v->field);
}

bool
build_stores_nothing(enum dtd_interpretation interpretation)
{
	return interpretation == DTD_DEFAULT || interpretation == DTD_STRIDE ||
	       interpretation == DTD_SECTION_STRIDE;
}

/* Return the first property 'field.name' that a section defines, or NULL. */
static const struct dtd_property *
in_a_section(const struct dtd *dtd, const char *field, const char *name)
{
	for (const struct dtd_section *s = dtd->sections; s != NULL;
	     s = s->next)
		for (const struct dtd_property *p = s->defs.properties;
		     p != NULL; p = p->next)
			if (strcmp(p->field, field) == 0 &&
			    strcmp(p->name, name) == 0)
				return p;
	return NULL;
}

/*
 * Fail, because a field lacks a property.  If a section defines this property,
 * the record is probably outside of that section, so add a hint.
 */
static bool
fail_missing(struct build *b, struct dtd_place place, const char *field,
	     const char *record, const char *name, const char *value)
{
	const struct dtd_property *const other =
		in_a_section(b->dtd, field, name);
	char hint[80] = "";

	if (other != NULL)
		snprintf(
			hint, sizeof(hint),
			"; the property in line %u applies only to its section",
			other->place.line);
	return build_fail(b, place,
			  "field '%.60s' of record '%.60s' has no %s: "
			  "expected '%.60s.%s = %s;'%s",
			  field, record, name, field, name, value, hint);
}

/*
 * Check a field whose properties have been set.  A field that is stored needs a
 * width.  A field of bytes must have the interpretation none.
 */
static bool
check_field(struct draft *d, const struct schema_field *f, bool has_width,
	    const char *record)
{
	if (!has_width && !build_stores_nothing(f->interpretation))
		return fail_missing(d->b, f->place, f->name, record, "width",
				    "N");
	if (f->is_bytes && f->interpretation != DTD_NONE)
		return build_fail(d->b, f->place,
				  "field '%.60s' holds bytes: its "
				  "interpretation must be none",
				  f->name);
	return true;
}

static bool
expand_tag(struct draft *d, struct dtd_place place, const struct scope *scope,
	   const char *record)
{
	struct schema_field *f;
	const struct dtd_property *const value =
		find_property(d->b, scope, "tag", "value");

	if (d->field_count != 0)
		return build_fail(d->b, place,
				  "a tag must be the first field of a record");
	if (value == NULL)
		return build_fail(d->b, place,
				  "record '%.60s' has a tag without a value: "
				  "expected 'tag.value = N;'",
				  record);
	f = draft_add_field(d, "tag", place);
	if (f == NULL)
		return false;
	f->is_tag = true;
	f->width = d->b->tag_width;
	if (!set_value(d, f, value))
		return false;
	if (f->value_from != SCHEMA_NO_FIELD ||
	    f->value >> (8 * d->b->tag_width) != 0)
		return build_fail(d->b, value->value.place,
				  "expected a tag that fits in %u byte%s",
				  d->b->tag_width,
				  d->b->tag_width == 1 ? "" : "s");
	return true;
}

/*
 * Add a string of dialect 1.2: a length of two bytes, and the string's bytes.
 */
static bool
expand_text(struct draft *d, const struct dtd_field *f,
	    const struct dtd_property *p)
{
	const uint32_t before = d->first_sibling;
	const uint32_t step = draft_add_step(d, STEP_NESTED, f->name);
	struct schema_field *field;

	if (step == SCHEMA_NO_FIELD)
		return false;
	d->first_sibling = d->step_count;
	field = draft_add_field(d, "length", f->place);
	if (field == NULL)
		return false;
	field->width = 2;
	field->history = history_of(d->b, p);
	if (p->value.text != NULL && p->value.text[0] != '\0')
		return build_fail(
			d->b, p->value.place,
			"the default of a string must be \"\", the empty "
			"string");
	if (p->value.text != NULL)
		field->interpretation = DTD_DEFAULT;
	field = draft_add_field(d, "data", f->place);
	if (field == NULL)
		return false;
	field->is_bytes = true;
	field->width_from = d->field_count - 2;
	field->history = history_of(d->b, p);
	d->steps[step].end = d->step_count;
	d->first_sibling = before;
	return !d->b->has_failed;
}

/* Add a field that is not a record. */
static bool
expand_name(struct draft *d, const struct dtd_field *f,
	    const struct scope *scope, const char *record)
{
	struct build *const b = d->b;
	const struct dtd_property *width, *interpretation, *value;
	struct schema_field *field;

	if (strcmp(f->name, "tag") == 0)
		return expand_tag(d, f->place, scope, record);
	width = find_property(b, scope, f->name, "width");
	interpretation = find_property(b, scope, f->name, "interpretation");
	value = find_property(b, scope, f->name, "value");
	if (interpretation == NULL)
		return fail_missing(b, f->place, f->name, record,
				    "interpretation", "none");
	if (interpretation->type == DTD_TEXT)
		return expand_text(d, f, interpretation);
	field = draft_add_field(d, f->name, f->place);
	if (field == NULL)
		return false;
	/* A DTD of dialect 1.2 need not give a width; the default is 8. */
	if (b->dtd->dialect == DTD_1_2 && width == NULL)
		field->width = 8;
	interpretation = follow(b, scope, interpretation);
	if (width != NULL)
		width = follow(b, scope, width);
	return !b->has_failed &&
	       (width == NULL || set_width(d, field, width)) &&
	       set_interpretation(d, field, interpretation) &&
	       (value == NULL || set_value(d, field, value)) &&
	       check_field(d, field,
			   width != NULL || b->dtd->dialect == DTD_1_2, record);
}

static bool expand(struct draft *d, const struct dtd_field *f,
		   const struct scope *scope, const char *record);

/* ----------------------------------------------------------------- nestings */

static void
note_nested(struct build *b, const struct dtd_record *record)
{
	if (record->owner == b->dtd)
		b->is_nested[record->ordinal] = true;
}

/* Add the fields of a record in place of its name. */
static bool
expand_record(struct draft *d, const struct dtd_record *record,
	      const struct scope *scope, struct dtd_place place)
{
	const struct scope own = { record, scope };
	bool ok;

	for (unsigned i = 0; i < d->depth; i++)
		if (d->open[i] == record)
			return build_fail(d->b, place,
					  "record '%.60s' contains itself",
					  record->name);
	if (d->depth == DTD_MAX_DEPTH)
		return build_fail(d->b, place,
				  "records are nested more than %d deep",
				  DTD_MAX_DEPTH);
	d->open[d->depth++] = record;
	ok = expand(d, record->field, &own, record->name);
	d->depth--;
	return ok;
}

/* Add a nested record, whose fields have a name space of their own. */
static bool
expand_nested(struct draft *d, const struct dtd_record *record,
	      const struct scope *scope, const struct dtd_field *f)
{
	const uint32_t before = d->first_sibling;
	const uint32_t step = draft_add_step(d, STEP_NESTED, f->name);

	if (step == SCHEMA_NO_FIELD)
		return false;
	d->first_sibling = d->step_count;
	note_nested(d->b, record);
	if (!expand_record(d, record, scope, f->place))
		return false;
	d->steps[step].end = d->step_count;
	d->first_sibling = before;
	return true;
}

/*
 * Return the record that a name stands for, or NULL.  Set '*scope_ret' to the
 * scope that defines the record.  For a predefined record, set '*scope_ret' to
 * an empty scope.
 */
static const struct dtd_record *
find_record(const struct build *b, const struct scope *scope, const char *name,
	    const struct scope **scope_ret)
{
	static const struct scope none = { NULL, NULL };
	const struct scope predefined = { &b->predefined->defs, NULL };
	const struct dtd_record *record =
		definitions_record(b->definitions, scope, name, scope_ret);

	if (record == NULL) {
		record = definitions_record(b->predefinitions, &predefined,
					    name, scope_ret);
		*scope_ret = &none;
	}
	return record;
}

/*
 * Return the name of the STEP_REPEAT for 'f'.  A name that ends with "_items"
 * is stored in 'text'.
 */
static const char *
array_name(const struct dtd_field *f, char text[300])
{
	if (f->first->kind == DTD_NAME)
		return f->first->name;
	snprintf(text, 300, "%s_items", f->name);
	return text;
}

/* Add the step of a repetition.  Return SCHEMA_NO_FIELD on failure. */
static uint32_t
add_repeat(struct draft *d, const struct dtd_field *f, uint32_t count,
	   bool is_scalar)
{
	char text[300];
	const char *const name = array_name(f, text);
	const char *const kept =
		name == text ? arena_text(d->b->arena, text, strlen(text))
			     : name;
	const uint32_t step = kept != NULL
				      ? draft_add_step(d, STEP_REPEAT, kept)
				      : SCHEMA_NO_FIELD;

	if (kept == NULL)
		build_no_memory(d->b);
	if (step != SCHEMA_NO_FIELD) {
		d->steps[step].field = count;
		d->steps[step].is_scalar = is_scalar;
	}
	return step;
}

/*
 * Add the repetition "count * field".  If the record has no earlier field with
 * the name of the count, add the count as a field in front of the repetition.
 */
static bool
expand_repeat(struct draft *d, const struct dtd_field *f,
	      const struct scope *scope, const char *record)
{
	const uint32_t sibling_before = d->first_sibling;
	const uint32_t repeat_before = d->repeat;
	const struct scope *where = NULL;
	const struct dtd_record *const nested =
		f->first->kind == DTD_NAME
			? find_record(d->b, scope, f->first->name, &where)
			: NULL;
	uint32_t count = draft_earlier_field(d, f->name), step;
	bool ok;

	if (count == SCHEMA_NO_FIELD) {
		const struct dtd_field counted = { .kind = DTD_NAME,
						   .place = f->place,
						   .name = f->name };

		if (!expand_name(d, &counted, scope, record))
			return false;
		count = d->field_count - 1;
	}
	if (!draft_is_number(d, count))
		return build_fail(d->b, f->place,
				  "field '%.60s' is not a number", f->name);
	step = add_repeat(d, f, count,
			  f->first->kind == DTD_NAME && nested == NULL);
	if (step == SCHEMA_NO_FIELD)
		return false;
	d->repeat = step;
	d->first_sibling = d->step_count;
	if (nested != NULL)
		note_nested(d->b, nested);
	ok = nested != NULL ? expand_record(d, nested, where, f->first->place)
			    : expand(d, f->first, scope, record);
	if (ok && d->steps[step].is_scalar && d->step_count != step + 2)
		/*
		 * The repeated field was a string of dialect 1.2, which becomes
		 * two fields.
		 */
		d->steps[step].is_scalar = false;
	d->steps[step].end = d->step_count;
	d->repeat = repeat_before;
	d->first_sibling = sibling_before;
	return ok;
}

static bool
expand(struct draft *d, const struct dtd_field *f, const struct scope *scope,
       const char *record)
{
	const struct scope *where;
	const struct dtd_record *nested;

	switch (f->kind) {
	case DTD_NAME:
		nested = find_record(d->b, scope, f->name, &where);
		return nested != NULL ? expand_nested(d, nested, where, f)
				      : expand_name(d, f, scope, record);
	case DTD_NESTED:
		return expand_nested(d, f->record, scope, f);
	case DTD_REPEAT:
		return expand_repeat(d, f, scope, record);
	default:
		for (const struct dtd_field *c = f->first; c != NULL;
		     c = c->next)
			if (!expand(d, c, scope, record))
				return false;
		return true;
	}
}

/* ------------------------------------------------------------------ records */

/* Copy an array to the arena.  Return NULL if there is no memory. */
static void *
keep(struct build *b, const void *array, size_t nbytes)
{
	void *const copy = arena_get(b->arena, nbytes);

	if (copy != NULL && nbytes != 0)
		memcpy(copy, array, nbytes);
	return copy;
}

/* Does the record's field list begin with its tag? */
static bool
begins_with_tag(const struct dtd_field *f)
{
	while (f->kind == DTD_GROUP)
		f = f->first;
	return f->kind == DTD_NAME && strcmp(f->name, "tag") == 0;
}

bool
build_has_tag(const struct build *b, const struct dtd_record *record)
{
	const struct scope own = { record, NULL };

	return begins_with_tag(record->field) ||
	       definitions_property(b->definitions, &own, "tag", "value") !=
		       NULL;
}

bool
build_record(struct build *b, const struct dtd_record *record,
	     const struct scope *scope, struct schema_record *out)
{
	const struct scope own = { record, scope };
	struct draft d = { .b = b, .repeat = DRAFT_NO_REPEAT };
	bool ok = true;

	/*
	 * If a record sets the value of its tag but does not name the tag as
	 * its first field, add the tag.
	 */
	if (build_has_tag(b, record) && !begins_with_tag(record->field))
		ok = expand_tag(&d, record->place, &own, record->name);
	ok = ok && expand_record(&d, record, scope, record->place);
	if (ok && d.field_count != 0 && d.fields[0].is_tag &&
	    !build_has_tag(b, record))
		ok = build_fail(b, record->place,
				"the first field of record '%.60s' is a record "
				"with a tag: expected 'tag' before it",
				record->name);
	*out = (struct schema_record){
		.name = record->name,
		.place = record->place,
		.comment = record->comment,
		.field_count = d.field_count,
		.step_count = d.step_count,
	};
	if (ok) {
		out->has_tag = d.field_count != 0 && d.fields[0].is_tag;
		out->tag = out->has_tag ? d.fields[0].value : 0;
		out->fields =
			keep(b, d.fields, d.field_count * sizeof(*d.fields));
		out->steps = keep(b, d.steps, d.step_count * sizeof(*d.steps));
		ok = (out->fields != NULL && out->steps != NULL) ||
		     build_no_memory(b);
	}
	draft_fini(&d);
	return ok;
}
