/* SPDX-License-Identifier: MIT */
/* mtf_writer.c - see mtf_writer.h */
#include "hatf/metatf/trace/mtf_writer.h"

#include "hatf/metatf/trace/byte_sink.h"
#include "hatf/metatf/trace/field_state.h"
#include "hatf/metatf/trace/mtf_writer_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(w, ...) \
	mtf_fail(&(w)->err, MTF_NOWHERE, (w)->record_count, __VA_ARGS__)

const struct mtf_error *
mtf_writer_error(const struct mtf_writer *w)
{
	return w->err.has_failed ? &w->err : NULL;
}

bool
mtf_writer_fail_io(struct mtf_writer *w, int sys_errno)
{
	return mtf_fail(&w->err, MTF_NOWHERE, MTF_NOWHERE, "%s",
			strerror(sys_errno));
}

/* -------------------------------------------------------------------- parts */

/*
 * Return the 'struct part' that collects the bytes of a section, and open it
 * first if necessary.  Return NULL on failure, or if the writer has already
 * failed.
 */
static struct part *
part_of(struct mtf_writer *w, const struct schema_section *section)
{
	struct part *const p = &w->parts[section - w->schema->sections];

	if (w->err.has_failed)
		return NULL;
	if (p->is_open)
		return p;
	if (!section_state_init(&p->state, section)) {
		mtf_writer_fail_io(w, ENOMEM);
		return NULL;
	}
	if (!byte_sink_init(&p->sink,
			    w->options.is_compressed &&
				    section->number != SCHEMA_GLOBAL,
			    w->options.level)) {
		mtf_writer_fail_io(w, errno);
		section_state_fini(&p->state);
		return NULL;
	}
	p->is_open = true;
	return p;
}

static void
put_number(struct mtf_writer *w, struct part *p, unsigned width,
	   uint64_t stored)
{
	mtf_put(byte_sink_room(&p->sink, width), width, w->options.byte_order,
		stored);
	p->sink.used += width;
}

const struct field_state *
mtf_writer_state(struct mtf_writer *w, const struct schema_section *section,
		 const struct schema_record *record, uint32_t field)
{
	const struct part *const p = part_of(w, section);

	return p != NULL ? &p->state.fields[record->first_field + field] : NULL;
}

/* ----------------------------------------------------------------- metadata */

const struct schema_record *
mtf_writer_predefined(const struct schema_section *section,
		      enum schema_role role)
{
	for (uint32_t i = section->record_count; i-- != 0;)
		if (section->records[i].role == role)
			return &section->records[i];
	return NULL;
}

bool
mtf_writer_set(struct mtf_writer *w, const struct schema_section *section,
	       const struct schema_record *record, uint32_t field,
	       unsigned property, const uint64_t args[2])
{
	struct part *const p = part_of(w, section);
	const struct schema_record *const metadata =
		mtf_writer_predefined(section, ROLE_METADATA);
	const unsigned width = w->options.class == MTF_32_BIT ? 4 : 8;
	const char *why;

	if (p == NULL)
		return false;
	if (metadata == NULL || field > UINT8_MAX)
		return FAIL(w, "%.60s: metadata cannot change field %u",
			    record->name, field);
	why = section_state_set(&p->state, w->schema, record, field, property,
				args);
	if (why != NULL)
		return FAIL(w, "metadata for '%.60s', field %u: %s",
			    record->name, field, why);
	put_number(w, p, w->schema->tag_width, metadata->tag);
	put_number(w, p, w->schema->tag_width, record->tag);
	put_number(w, p, 1, field);
	put_number(w, p, 1, property);
	for (unsigned i = 0; i < 2 && i < metadata_argument_count(property);
	     i++) {
		const bool is_signed = i == 1;
		const uint64_t back =
			is_signed ? (uint64_t)(int64_t)(int32_t)args[i]
				  : (uint32_t)args[i];

		if (width == 4 && back != args[i])
			return FAIL(w,
				    "metadata for '%.60s', field %u: the value "
				    "does not fit the 32 bits of class 1",
				    record->name, field);
		put_number(w, p, width, args[i]);
	}
	return true;
}

bool
mtf_writer_comment(struct mtf_writer *w, const struct schema_section *section,
		   const char *text, size_t nbytes)
{
	const struct schema_record *const comment =
		mtf_writer_predefined(section, ROLE_COMMENT);
	struct part *const p = part_of(w, section);

	if (p == NULL)
		return false;
	if (comment == NULL)
		return FAIL(w, "the DTD allows no comments in section '%.60s'",
			    section->name);
	if (nbytes > UINT8_MAX)
		return FAIL(w, "section '%.60s': a comment exceeds 255 bytes",
			    section->name);
	put_number(w, p, w->schema->tag_width, comment->tag);
	put_number(w, p, 1, nbytes);
	byte_sink_put(&p->sink, (const uint8_t *)text, nbytes);
	return true;
}

/* ----------------------------------------------------------------- widening */

/* Return how many bytes a number needs: 1, 2, 4 or 8. */
static uint64_t
needed_width(uint64_t number)
{
	return number <= UINT8_MAX    ? 1
	       : number <= UINT16_MAX ? 2
	       : number <= UINT32_MAX ? 4
				      : 8;
}

/*
 * Write metadata after which a field can represent 'number'.  If the
 * interpretation is neither none nor sectionOffset, set none.  If the width is
 * then too small for the number, set a sufficient width.  In a plain section,
 * which has no metadata, record an error and return false.
 */
static bool
widen(struct mtf_writer *w, uint32_t field, const struct field_state *f,
      uint64_t number)
{
	const struct schema_section *const section = w->part->state.section;
	const uint64_t none[2] = { 0, 0 };
	const uint64_t width[2] = { needed_width(number), 0 };

	if (section->is_plain)
		return FAIL(w,
			    "%.60s: the number %llu does not fit field '%.60s'",
			    w->type->name, (unsigned long long)number,
			    w->type->fields[field].name);
	if (f->interpretation != DTD_NONE &&
	    f->interpretation != DTD_SECTION_OFFSET &&
	    !mtf_writer_set(w, section, w->type, field, DTD_NONE, none))
		return false;
	return f->width >= width[0] ||
	       mtf_writer_set(w, section, w->type, field, 0, width);
}

static bool
note_undo(struct mtf_writer *w, uint32_t history, uint64_t previous)
{
	if (w->undo_count == w->undo_capacity) {
		const size_t capacity =
			w->undo_capacity == 0 ? 64 : 2 * w->undo_capacity;
		struct undo *const bigger =
			realloc(w->undos, capacity * sizeof(*bigger));

		if (bigger == NULL)
			return mtf_writer_fail_io(w, ENOMEM);
		w->undos = bigger;
		w->undo_capacity = capacity;
	}
	w->undos[w->undo_count++] = (struct undo){ history, previous };
	return true;
}

/*
 * Can the column of a field represent this number?  A column with tags always
 * can, because the writer can widen the column's own field.
 */
static bool
fits_column(struct mtf_writer *w, const struct field_state *f, uint64_t number)
{
	const struct schema_section *const section =
		schema_section(w->schema, (unsigned)f->args[0]);
	const struct part *const p = part_of(w, section);
	uint64_t stored;

	return p == NULL || !section->is_plain ||
	       field_encode(&p->state, &p->state.fields[0], number, &stored);
}

static bool
prepare_number(struct mtf_writer *w, uint32_t field, uint64_t number)
{
	struct section_state *const s = &w->part->state;
	const struct field_state *const f =
		&s->fields[w->type->first_field + field];
	uint64_t stored;

	if (f->kind == FIELD_ELEMENT) {
		if (fits_column(w, f, number))
			return true;
		w->has_widened = true;
		return widen(w, field, f, number);
	}
	if (!field_encode(s, f, number, &stored)) {
		w->has_widened = true;
		if (!widen(w, field, f, number))
			return false;
	}
	/*
	 * Set the previous value as if the number had been written, because a
	 * later field of this record may have the same 'history'.
	 */
	if (!note_undo(w, f->history, s->previous[f->history]))
		return false;
	s->previous[f->history] = number;
	return true;
}

/*
 * If a field of bytes does not have 'nbytes' bytes at present, write metadata
 * that sets its width.  In a plain section, which has no metadata, record an
 * error and return false.
 */
static bool
prepare_bytes(struct mtf_writer *w, uint32_t field, uint64_t nbytes)
{
	struct section_state *const s = &w->part->state;
	const struct schema_field *const info = &w->type->fields[field];
	const struct field_state *const f =
		&s->fields[w->type->first_field + field];
	const uint64_t told = info->width_from != SCHEMA_NO_FIELD
				      ? w->last[info->width_from]
				      : info->width;
	const uint64_t width =
		f->width_from != SCHEMA_NO_FIELD ? told : f->bytes_width;
	const uint64_t args[2] = { nbytes, 0 };

	if (nbytes == width)
		return true;
	if (s->section->is_plain)
		return FAIL(w,
			    "%.60s: field '%.60s' has %llu bytes, but must "
			    "have %llu",
			    w->type->name, info->name,
			    (unsigned long long)nbytes,
			    (unsigned long long)width);
	w->has_widened = true;
	return mtf_writer_set(w, s->section, w->type, field,
			      nbytes == told ? DTD_NONE : 0, args);
}

/* ------------------------------------------------------------------- values */

/* Take the next of the values that the caller passed, or fail. */
static const struct mtf_value *
take(struct mtf_writer *w)
{
	if (w->next == w->end) {
		FAIL(w, "record '%.60s': the caller passed too few values",
		     w->type->name);
		return NULL;
	}
	return w->next++;
}

/* Return the number to write for a field. */
static uint64_t
number_of(const struct mtf_writer *w, const struct schema_field *f,
	  const struct mtf_value *v)
{
	if (f->is_tag)
		return w->type->tag;
	if (!f->has_value)
		return v->number;
	return f->value_from != SCHEMA_NO_FIELD ? w->last[f->value_from]
						: f->value;
}

static bool put_element(struct mtf_writer *w, const struct field_state *f,
			uint64_t number);

static bool
put_bytes(struct mtf_writer *w, const struct field_state *state,
	  const struct schema_field *f, const struct mtf_value *v)
{
	const uint64_t width = state->width_from != SCHEMA_NO_FIELD
				       ? w->last[state->width_from]
				       : state->bytes_width;

	if (v->number != width || (v->bytes == NULL && width != 0))
		return FAIL(w,
			    "%.60s: field '%.60s' has %llu bytes, but must "
			    "have %llu",
			    w->type->name, f->name,
			    (unsigned long long)v->number,
			    (unsigned long long)width);
	if (width != 0)
		byte_sink_put(&w->part->sink, v->bytes, v->number);
	return true;
}

static bool
put_field(struct mtf_writer *w, uint32_t idx)
{
	struct section_state *const s = &w->part->state;
	const struct schema_field *const f = &w->type->fields[idx];
	const struct field_state *const state =
		&s->fields[w->type->first_field + idx];
	const struct mtf_value *const v = take(w);
	uint64_t number, stored;

	if (v == NULL)
		return false;
	if (f->is_tag) {
		/* The tag has no history to update. */
		put_number(w, w->part, w->schema->tag_width, w->type->tag);
		return true;
	}
	if (state->kind == FIELD_BYTES)
		return put_bytes(w, state, f, v);
	number = number_of(w, f, v);
	w->last[idx] = number;
	if (state->kind == FIELD_ELEMENT)
		return put_element(w, state, number);
	if (!field_encode(s, state, number, &stored))
		return FAIL(w,
			    "%.60s: the number %llu does not fit the repeated "
			    "field "
			    "'%.60s'",
			    w->type->name, (unsigned long long)number, f->name);
	put_number(w, w->part, state->width, stored);
	s->previous[state->history] = number;
	return true;
}

/* The type of a function that prepares or writes one value of a record. */
typedef bool visit_field(struct mtf_writer *w, uint32_t field);

static bool
visit_steps(struct mtf_writer *w, visit_field *visit, uint32_t first,
	    uint32_t end)
{
	const struct schema_step *const steps = w->type->steps;

	for (uint32_t i = first; i < end; i++) {
		if (steps[i].kind == STEP_FIELD) {
			if (!visit(w, steps[i].field))
				return false;
		} else if (steps[i].kind == STEP_REPEAT) {
			const uint64_t count = w->last[steps[i].field];

			if (count > (uint64_t)(w->end - w->next) &&
			    count > MTF_MAX_VALUES)
				return FAIL(w,
					    "record '%.60s': the caller passed "
					    "too few values",
					    w->type->name);
			for (uint64_t n = 0; n < count; n++)
				if (!visit_steps(w, visit, i + 1, steps[i].end))
					return false;
			i = steps[i].end - 1;
		}
	}
	return true;
}

/* Write the metadata that a value needs, if any. */
static bool
prepare_field(struct mtf_writer *w, uint32_t idx)
{
	const struct schema_field *const f = &w->type->fields[idx];
	const struct mtf_value *const v = take(w);

	if (v == NULL)
		return false;
	if (f->is_bytes)
		return prepare_bytes(w, idx, v->number);
	w->last[idx] = number_of(w, f, v);
	return f->is_tag || prepare_number(w, idx, w->last[idx]);
}

/*
 * Write the metadata that the record needs.  If a field is repeated, metadata
 * for a later value may make an earlier value need other metadata.  So repeat
 * until no value needs metadata.  Give up after 10001 rounds.
 */
static bool
prepare(struct mtf_writer *w, const struct mtf_value *values)
{
	unsigned round_count = 0;
	bool ok;

	do {
		if (round_count++ > 10000)
			return FAIL(w,
				    "%.60s: a repeated field has byte strings "
				    "of different lengths",
				    w->type->name);
		w->has_widened = false;
		w->next = values;
		w->undo_count = 0;
		ok = visit_steps(w, prepare_field, 0, w->type->step_count);
		while (w->undo_count != 0) {
			const struct undo *const u = &w->undos[--w->undo_count];

			w->part->state.previous[u->history] = u->previous;
		}
	} while (ok && w->has_widened);
	return ok;
}

bool
mtf_writer_put(struct mtf_writer *w, const struct schema_section *section,
	       const struct schema_record *record,
	       const struct mtf_value *values, size_t value_count)
{
	w->part = part_of(w, section);
	if (w->part == NULL)
		return false;
	w->type = record;
	w->end = values + value_count;
	if (!prepare(w, values))
		return false;
	w->next = values;
	if (!visit_steps(w, put_field, 0, record->step_count))
		return false;
	if (w->next != w->end)
		return FAIL(w,
			    "record '%.60s': the caller passed too many values",
			    record->name);
	w->record_count += record->role == ROLE_DATA &&
			   !w->is_column[section - w->schema->sections];
	return true;
}

/*
 * Append a number to the column of a field.  If the stride of the previous
 * number makes readers skip elements, first append the number once for each of
 * these elements.
 */
static bool
put_element(struct mtf_writer *w, const struct field_state *f, uint64_t number)
{
	const struct schema_section *const section =
		schema_section(w->schema, (unsigned)f->args[0]);
	const struct schema_record *const record = &section->records[0];
	const struct mtf_value values[2] = { { record->tag, NULL },
					     { number, NULL } };
	const struct schema_record *const type = w->type;
	const struct mtf_value *const next = w->next, *const end = w->end;
	struct part *const part = w->part;
	const uint64_t record_count = w->record_count;
	uint64_t last[2] = { w->last[0], w->last[1] };
	struct part *column;
	bool ok;

	if (f->args[1] == 0 || f->args[1] > MTF_MAX_VALUES)
		return FAIL(w, "%.60s: stride %llu is not in the range 1 to %u",
			    w->type->name, (unsigned long long)f->args[1],
			    (unsigned)MTF_MAX_VALUES);
	w->is_column[section - w->schema->sections] = true;
	column = part_of(w, section);
	ok = column != NULL;
	for (uint64_t i = 0; ok && i <= column->skipped_count; i++)
		ok = mtf_writer_put(w, section, record,
				    values + !record->has_tag,
				    1 + record->has_tag);
	if (ok)
		column->skipped_count = f->args[1] - 1;
	w->type = type;
	w->next = next;
	w->end = end;
	w->part = part;
	w->record_count = record_count;
	memcpy(w->last, last, sizeof(last));
	return ok;
}

/* ------------------------------------------------------------------ opening */

struct mtf_writer *
mtf_writer_open(int fd, const struct schema *schema,
		const struct mtf_writer_options *options)
{
	struct mtf_writer *const w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->fd = fd;
	w->schema = schema;
	w->options = *options;
	w->parts = calloc(schema->section_count, sizeof(*w->parts));
	w->is_column = calloc(schema->section_count, sizeof(*w->is_column));
	if (w->parts == NULL || w->is_column == NULL) {
		mtf_writer_close(w);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t i = 0; i < schema->section_count; i++)
		w->is_column[i] = schema->sections[i].is_column;
	return w;
}

bool
mtf_writer_extend(struct mtf_writer *w, const struct schema *schema,
		  const char *dtd_text, size_t dtd_nbytes)
{
	if (w->err.has_failed)
		return false;
	if (schema->section_count != w->schema->section_count ||
	    schema->tag_width != w->schema->tag_width)
		return FAIL(w, "the new schema has another number of sections, "
			       "or tags of another width");
	for (uint32_t i = 0; i < schema->section_count; i++)
		if (w->parts[i].is_open &&
		    !section_state_extend(&w->parts[i].state,
					  &schema->sections[i]))
			return mtf_writer_fail_io(w, ENOMEM);
	w->schema = schema;
	w->options.dtd_text = dtd_text;
	w->options.dtd_nbytes = dtd_nbytes;
	return true;
}

void
mtf_writer_close(struct mtf_writer *w)
{
	if (w == NULL)
		return;
	for (uint32_t i = 0; w->parts != NULL && i < w->schema->section_count;
	     i++)
		if (w->parts[i].is_open) {
			section_state_fini(&w->parts[i].state);
			byte_sink_fini(&w->parts[i].sink);
		}
	free(w->parts);
	free(w->is_column);
	free(w->undos);
	free(w);
}
