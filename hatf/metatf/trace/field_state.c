/* SPDX-License-Identifier: MIT */
/* field_state.c - see field_state.h */
#include "hatf/metatf/trace/field_state.h"

#include <stdlib.h>

unsigned
metadata_argument_count(unsigned property)
{
	return property == 0 ? 1 : dtd_argument_count(property);
}

/*
 * Derive the operands of the formula in field_state.h from the interpretation.
 */
static void
derive(struct field_state *f)
{
	const bool is_signed = f->interpretation == DTD_BASE_OFFSET ||
			       f->interpretation == DTD_DELTA;
	const bool uses_previous = f->interpretation == DTD_DELTA ||
				   f->interpretation == DTD_STRIDE;

	f->sign = is_signed && f->width != 0
			  ? (uint64_t)1 << (8u * f->width - 1)
			  : 0;
	f->keep = uses_previous ? UINT64_MAX : 0;
	f->add = f->interpretation == DTD_DEFAULT ||
				 f->interpretation == DTD_BASE_OFFSET
			 ? f->args[0]
		 : f->interpretation == DTD_STRIDE ? f->args[1]
						   : 0;
}

static void
set_width(struct field_state *f, uint32_t width)
{
	const bool stores = f->interpretation != DTD_DEFAULT &&
			    f->interpretation != DTD_STRIDE &&
			    f->interpretation != DTD_SECTION_STRIDE;

	if (width != 0)
		f->last_width = (uint8_t)width;
	f->width = stores ? (uint8_t)width : 0;
	derive(f);
}

static void
set_interpretation(struct section_state *s, struct field_state *f,
		   enum dtd_interpretation interpretation,
		   const uint64_t args[2])
{
	f->interpretation = (uint8_t)interpretation;
	f->args[0] = args[0];
	f->args[1] = args[1];
	f->kind = interpretation == DTD_SECTION_STRIDE ? FIELD_ELEMENT
						       : FIELD_NUMBER;
	s->keep_counts[f->history] -= f->keep != 0;
	set_width(f, f->last_width);
	s->keep_counts[f->history] += f->keep != 0;
	if (f->keep != 0)
		s->previous[f->history] = args[0];
}

static void
begin_field(struct section_state *s, struct field_state *state,
	    const struct schema_field *f)
{
	*state = (struct field_state){
		.kind = f->is_bytes ? FIELD_BYTES : FIELD_NUMBER,
		.history = f->history,
		.last_width = f->is_bytes ? 0 : (uint8_t)f->width,
		.bytes_width = f->width,
		.width_from = f->width_from,
		.interpretation = DTD_NONE,
	};
	if (!f->is_bytes)
		set_interpretation(s, state, f->interpretation, f->args);
}

bool
section_state_init(struct section_state *s,
		   const struct schema_section *section)
{
	*s = (struct section_state){
		.section = section,
		.fields = calloc(section->field_count + 1, sizeof(*s->fields)),
		.previous = calloc(section->history_count + 1,
				   sizeof(*s->previous)),
		.keep_counts = calloc(section->history_count + 1,
				      sizeof(*s->keep_counts)),
		.version = 1,
	};
	if (s->fields == NULL || s->previous == NULL ||
	    s->keep_counts == NULL) {
		section_state_fini(s);
		return false;
	}
	for (uint32_t i = 0; i < section->record_count; i++) {
		const struct schema_record *const r = &section->records[i];

		for (uint32_t j = 0; j < r->field_count; j++)
			begin_field(s, &s->fields[r->first_field + j],
				    &r->fields[j]);
	}
	return true;
}

void
section_state_fini(struct section_state *s)
{
	free(s->fields);
	free(s->previous);
	free(s->keep_counts);
	*s = (struct section_state){ 0 };
}

/*
 * Return the number of fields in the section's own records (schema.h), which
 * come before all other records.
 */
static uint32_t
own_field_count(const struct schema_section *section)
{
	return section->own_count < section->record_count
		       ? section->records[section->own_count].first_field
		       : section->field_count;
}

/* Do the own records (schema.h) of 'more' begin with those of 'section'? */
static bool
extends(const struct schema_section *more, const struct schema_section *section)
{
	if (more->own_count < section->own_count)
		return false;
	for (uint32_t i = 0; i < section->own_count; i++) {
		const struct schema_record *const a = &section->records[i];
		const struct schema_record *const b = &more->records[i];

		if (a->tag != b->tag || a->field_count != b->field_count)
			return false;
		for (uint32_t j = 0; j < a->field_count; j++)
			if (a->fields[j].history != b->fields[j].history)
				return false;
	}
	return true;
}

bool
section_state_extend(struct section_state *s,
		     const struct schema_section *section)
{
	const uint32_t kept_count = own_field_count(s->section);
	struct section_state more;

	if (!extends(section, s->section) ||
	    !section_state_init(&more, section))
		return false;
	for (uint32_t i = 0; i < kept_count; i++) {
		const struct field_state *const f = &s->fields[i];

		more.keep_counts[f->history] += f->keep != 0;
		more.keep_counts[f->history] -= more.fields[i].keep != 0;
		more.fields[i] = *f;
		more.previous[f->history] = s->previous[f->history];
	}
	more.version = s->version + 1;
	section_state_fini(s);
	*s = more;
	return true;
}

static const char *
set_bytes(struct field_state *f, const struct schema_field *field,
	  unsigned property, const uint64_t args[2])
{
	if (property == DTD_NONE) {
		f->width_from = field->width_from;
		f->bytes_width = field->width;
		return NULL;
	}
	if (property != 0)
		return "the field holds bytes: its interpretation must be none";
	if (args[0] > SCHEMA_MAX_WIDTH)
		return "the width exceeds 1 MiB";
	f->width_from = SCHEMA_NO_FIELD;
	f->bytes_width = (uint32_t)args[0];
	return NULL;
}

static const char *
check_section(const struct section_state *s, const struct schema *schema,
	      unsigned property, uint64_t number)
{
	const struct schema_section *const other =
		number > UINT8_MAX || number == SCHEMA_GLOBAL
			? NULL
			: schema_section(schema, (unsigned)number);

	if (property != DTD_SECTION_OFFSET && property != DTD_SECTION_STRIDE)
		return NULL;
	if (other == NULL)
		return "the field refers to a section that is not defined";
	if (property == DTD_SECTION_STRIDE &&
	    (other == s->section || !schema_has_elements(other)))
		return "the field must take its numbers from another section, "
		       "whose only record has a single number";
	return NULL;
}

const char *
section_state_set(struct section_state *s, const struct schema *schema,
		  const struct schema_record *record, uint32_t field,
		  unsigned property, const uint64_t args[2])
{
	struct field_state *f;
	const char *why;

	if (field >= record->field_count || record->fields[field].is_tag)
		return "the record has no such field, or the field is its tag";
	if (property > DTD_SECTION_STRIDE)
		return "no property has this number";
	f = &s->fields[record->first_field + field];
	s->version++;
	if (f->kind == FIELD_BYTES)
		return set_bytes(f, &record->fields[field], property, args);
	if (property == 0) {
		if (args[0] > 8)
			return "the width of a number exceeds 8 bytes";
		set_width(f, (uint32_t)args[0]);
		return NULL;
	}
	why = check_section(s, schema, property, args[0]);
	if (why == NULL)
		set_interpretation(s, f, property, args);
	return why;
}
