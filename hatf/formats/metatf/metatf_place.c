/* SPDX-License-Identifier: MIT */
/* metatf_place.c - see metatf_place.h */
#include "hatf/formats/metatf/metatf_place.h"

#include "hatf/formats/metatf/metatf_column.h"
#include "hatf/metatf/trace/field_state.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_RECORDS 4096
#define BATCH_VALUES  ((size_t)BATCH_RECORDS * PLACE_FIELDS)
#define BATCH_NBYTES  ((size_t)1 << 20)

/*
 * Length in bytes of a metadata record.  A change of form must save more bytes
 * than this.
 */
#define METADATA_NBYTES 12

struct row {
	const struct schema_record *record;
	uint32_t first_value, value_count;
	/* number of values before the first repeated field */
	uint32_t single_count;
};

/* Properties of a field's values in a batch. */
struct field_figures {
	uint64_t count, first, max;
	int64_t min_delta, max_delta;
	bool is_varied;
};

/* A way to store a field. */
struct form {
	enum dtd_interpretation interpretation;
	unsigned width;
	uint64_t cost; /* bytes that the batch takes in this form */
};

struct metatf_place {
	struct mtf_writer *writer;
	const struct schema_section *section;
	size_t count, value_count, nbytes;
	struct row rows[BATCH_RECORDS];
	struct mtf_value values[BATCH_VALUES];
	uint8_t bytes[BATCH_NBYTES];
	/*
	 * previous[h] is the previous value of the field whose 'history'
	 * (struct schema_field) is h.
	 */
	uint64_t *previous;
	/* The contents of 'previous' before the batch. */
	uint64_t *before;
	struct field_figures *figures; /* one for each field of the section */
	const struct schema *schema;
	/*
	 * columns[i] is the column of section i.  It is NULL if no field takes
	 * numbers from the section, or if the tag of the section's record takes
	 * more than one byte.  It is also NULL if the section has no tags,
	 * because then metadata cannot change the form of its numbers.
	 */
	struct metatf_column **columns;
	uint64_t numbers[COLUMN_MOST];
};

/*
 * Open a column for each section that needs one, see 'columns' of struct
 * metatf_place.
 */
static bool
open_columns(struct metatf_place *p, bool is_compressed)
{
	for (uint32_t i = 0; i < p->schema->section_count; i++) {
		const struct schema_section *const s = &p->schema->sections[i];

		if (!s->is_column || s->is_plain || s->records[0].tag > 255)
			continue;
		p->columns[i] = metatf_column_open(p->writer, s, is_compressed);
		if (p->columns[i] == NULL)
			return false;
	}
	return true;
}

struct metatf_place *
metatf_place_open(struct mtf_writer *w, const struct schema *schema,
		  const struct schema_section *section, bool is_compressed)
{
	struct metatf_place *const p = malloc(sizeof(*p));

	if (p == NULL)
		return NULL;
	p->writer = w;
	p->schema = schema;
	p->section = section;
	p->count = p->value_count = p->nbytes = 0;
	p->previous = calloc(section->history_count + 1, sizeof(uint64_t));
	p->before = calloc(section->history_count + 1, sizeof(uint64_t));
	p->figures = calloc(section->field_count + 1, sizeof(*p->figures));
	p->columns =
		calloc(schema->section_count, sizeof(struct metatf_column *));
	if (p->previous != NULL && p->before != NULL && p->figures != NULL &&
	    p->columns != NULL && open_columns(p, is_compressed))
		return p;
	metatf_place_close(p);
	return NULL;
}

void
metatf_place_close(struct metatf_place *p)
{
	if (p == NULL)
		return;
	free(p->previous);
	free(p->before);
	free(p->figures);
	for (uint32_t i = 0; p->columns != NULL && i < p->schema->section_count;
	     i++)
		metatf_column_close(p->columns[i]);
	free(p->columns);
	free(p);
}

/* Does the batch have room for a record with this many values and bytes? */
static bool
has_room(const struct metatf_place *p, size_t value_count, uint64_t nbytes)
{
	return p->count < BATCH_RECORDS &&
	       value_count <= BATCH_VALUES - p->value_count &&
	       nbytes <= BATCH_NBYTES - p->nbytes;
}

bool
metatf_place_put(struct metatf_place *p, const struct schema_record *record,
		 const struct mtf_value *values, size_t value_count,
		 size_t single_count)
{
	struct mtf_value *copies;
	uint64_t nbytes = 0;

	for (size_t i = 0; i < value_count; i++)
		if (values[i].bytes != NULL)
			nbytes += values[i].number;
	if (!has_room(p, value_count, nbytes) && !metatf_place_flush(p))
		return false;
	copies = &p->values[p->value_count];
	p->rows[p->count++] =
		(struct row){ record, (uint32_t)p->value_count,
			      (uint32_t)value_count, (uint32_t)single_count };
	p->value_count += value_count;
	memcpy(copies, values, value_count * sizeof(*values));
	for (size_t i = 0; i < value_count; i++) {
		struct mtf_value *const v = &copies[i];

		if (v->bytes == NULL)
			continue;
		if (v->number != 0)
			memcpy(p->bytes + p->nbytes, v->bytes,
			       (size_t)v->number);
		v->bytes = p->bytes + p->nbytes;
		p->nbytes += (size_t)v->number;
	}
	return true;
}

/* ------------------------------------------------------------------ figures */

static void
note_value(struct metatf_place *p, const struct schema_field *f,
	   struct field_figures *g, uint64_t value)
{
	const int64_t delta = (int64_t)(value - p->previous[f->history]);

	if (g->count++ == 0) {
		g->first = value;
		g->max = value;
		g->min_delta = g->max_delta = delta;
	}
	g->is_varied |= value != g->first;
	g->max = value > g->max ? value : g->max;
	g->min_delta = delta < g->min_delta ? delta : g->min_delta;
	g->max_delta = delta > g->max_delta ? delta : g->max_delta;
	p->previous[f->history] = value;
}

/* Compute the figures of each field's values in the batch. */
static void
find_figures(struct metatf_place *p)
{
	memcpy(p->before, p->previous,
	       p->section->history_count * sizeof(*p->before));
	memset(p->figures, 0, p->section->field_count * sizeof(*p->figures));
	for (size_t i = 0; i < p->count; i++) {
		const struct row *const row = &p->rows[i];
		const struct schema_record *const r = row->record;
		const struct mtf_value *const v = &p->values[row->first_value];

		for (uint32_t j = r->has_tag; j < row->single_count; j++)
			if (v[j].bytes == NULL)
				note_value(p, &r->fields[j],
					   &p->figures[r->first_field + j],
					   v[j].number);
	}
}

/* -------------------------------------------------------------------- forms */

/* Return how many bytes, 1, 2, 4 or 8, a number from 0 to 'max' needs. */
static unsigned
unsigned_width(uint64_t max)
{
	unsigned width = 1;

	while (width < 8 && max >> (8 * width) != 0)
		width *= 2;
	return width;
}

static unsigned
signed_width(int64_t min, int64_t max)
{
	unsigned width = 1;

	while (width < 8 && (min < -((int64_t)1 << (8 * width - 1)) ||
			     max >= (int64_t)1 << (8 * width - 1)))
		width *= 2;
	return width;
}

/* Return the form in which a field takes the fewest bytes. */
static struct form
best_form(const struct field_figures *g)
{
	const unsigned plain = unsigned_width(g->max);
	const unsigned delta = signed_width(g->min_delta, g->max_delta);

	if (!g->is_varied)
		return (struct form){ DTD_DEFAULT, 0, 0 };
	if (delta < plain)
		return (struct form){ DTD_DELTA, delta, delta * g->count };
	return (struct form){ DTD_NONE, plain, plain * g->count };
}

/*
 * Return how many bytes the field's values in the batch take in the present
 * form of the field.  Return UINT64_MAX if the present form cannot store these
 * values, or has an interpretation that best_form() never chooses.
 */
static uint64_t
present_cost(const struct field_state *f, const struct field_figures *g)
{
	bool fits = false;

	switch (f->interpretation) {
	case DTD_DEFAULT:
		fits = !g->is_varied && g->first == f->args[0];
		break;
	case DTD_NONE:
		fits = unsigned_width(g->max) <= f->width;
		break;
	case DTD_DELTA:
		fits = signed_width(g->min_delta, g->max_delta) <= f->width;
		break;
	default:
		break;
	}
	return fits ? f->width * g->count : UINT64_MAX;
}

/* Change a field to its best form, if that saves more than METADATA_NBYTES. */
static bool
place_field(struct metatf_place *p, const struct schema_record *r,
	    uint32_t field)
{
	const struct field_figures *const g =
		&p->figures[r->first_field + field];
	const struct field_state *const now =
		mtf_writer_state(p->writer, p->section, r, field);
	const struct form best = best_form(g);
	const uint64_t args[2] = {
		best.interpretation == DTD_DEFAULT
			? g->first
			: p->before[r->fields[field].history],
		0
	};
	const uint64_t width[2] = { best.width, 0 };
	const uint64_t change = METADATA_NBYTES;

	if (now == NULL)
		return false;
	if (g->count == 0 || now->kind != FIELD_NUMBER ||
	    present_cost(now, g) <= best.cost + change)
		return true;
	if (now->interpretation != best.interpretation ||
	    best.interpretation == DTD_DEFAULT) {
		if (!mtf_writer_set(p->writer, p->section, r, field,
				    best.interpretation, args))
			return false;
	}
	return best.width == 0 || best.width == now->width ||
	       mtf_writer_set(p->writer, p->section, r, field, 0, width);
}

/*
 * Choose the form of the numbers that the records of the batch take from
 * section 'idx'.
 */
static bool
place_column(struct metatf_place *p, uint32_t idx)
{
	const uint64_t number = p->schema->sections[idx].number;
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct row *const row = &p->rows[i];
		const struct mtf_value *const v = &p->values[row->first_value];

		for (uint32_t j = 0; j < row->single_count; j++) {
			const struct schema_field *const f =
				&row->record->fields[j];

			if (f->interpretation == DTD_SECTION_STRIDE &&
			    f->args[0] == number && count < COLUMN_MOST)
				p->numbers[count++] = v[j].number;
		}
	}
	return count == 0 ||
	       metatf_column_place(p->columns[idx], p->numbers, count);
}

bool
metatf_place_flush(struct metatf_place *p)
{
	for (uint32_t i = 0; i < p->schema->section_count; i++)
		if (p->columns[i] != NULL && !place_column(p, i))
			return false;
	find_figures(p);
	for (uint32_t i = 0; i < p->section->record_count; i++) {
		const struct schema_record *const r = &p->section->records[i];

		if (r->role != ROLE_DATA)
			continue;
		for (uint32_t j = r->has_tag; j < r->field_count; j++)
			if (!place_field(p, r, j))
				return false;
	}
	for (size_t i = 0; i < p->count; i++) {
		const struct row *const row = &p->rows[i];

		if (!mtf_writer_put(p->writer, p->section, row->record,
				    &p->values[row->first_value],
				    row->value_count))
			return false;
	}
	p->count = p->value_count = p->nbytes = 0;
	return true;
}
