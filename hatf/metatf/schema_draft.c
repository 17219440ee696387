/* SPDX-License-Identifier: MIT */
/* schema_draft.c - see schema_draft.h */
#include "hatf/metatf/schema_draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
build_fail(struct build *b, struct dtd_place place, const char *format, ...)
{
	va_list args;

	if (b->has_failed)
		return false;
	b->has_failed = true;
	b->err->place = place;
	va_start(args, format);
	vsnprintf(b->err->text, sizeof(b->err->text), format, args);
	va_end(args);
	return false;
}

bool
build_no_memory(struct build *b)
{
	return build_fail(b, (struct dtd_place){ 0, 0 }, "no memory");
}

/*
 * Make room for one more element of an array, and return the array.  Return
 * NULL if there is no memory; the old array stays valid.
 */
static void *
grow(void *array, uint32_t count, uint32_t *capacity, size_t nbytes)
{
	const uint32_t wanted = *capacity == 0 ? 16 : 2 * *capacity;
	void *bigger;

	if (count < *capacity)
		return array;
	bigger = realloc(array, wanted * nbytes);
	if (bigger != NULL)
		*capacity = wanted;
	return bigger;
}

/* Make room for one more step.  Return false if there is no memory. */
static bool
grow_steps(struct draft *d)
{
	uint32_t capacity = d->step_capacity;
	struct step_origin *const origins =
		grow(d->origins, d->step_count, &capacity, sizeof(*origins));
	struct schema_step *steps;

	if (origins == NULL)
		return build_no_memory(d->b);
	d->origins = origins;
	steps = grow(d->steps, d->step_count, &d->step_capacity,
		     sizeof(*steps));
	if (steps == NULL)
		return build_no_memory(d->b);
	d->steps = steps;
	return true;
}

/* Make room for one more field.  Return false if there is no memory. */
static bool
grow_fields(struct draft *d)
{
	uint32_t capacity = d->field_capacity;
	uint32_t *const repeat_of = grow(d->repeat_of, d->field_count,
					 &capacity, sizeof(*repeat_of));
	struct schema_field *fields;

	if (repeat_of == NULL)
		return build_no_memory(d->b);
	d->repeat_of = repeat_of;
	fields = grow(d->fields, d->field_count, &d->field_capacity,
		      sizeof(*fields));
	if (fields == NULL)
		return build_no_memory(d->b);
	d->fields = fields;
	return true;
}

/* Is 'outer' the repetition 'inner', or a repetition that contains 'inner'? */
static bool
is_around(const struct draft *d, uint32_t outer, uint32_t inner)
{
	while (inner != outer && inner != DRAFT_NO_REPEAT)
		inner = d->origins[inner].repeat;
	return inner == outer;
}

uint32_t
draft_earlier_field(const struct draft *d, const char *name)
{
	for (uint32_t i = d->field_count; i-- != 0;)
		if (strcmp(d->fields[i].name, name) == 0 &&
		    is_around(d, d->repeat_of[i], d->repeat))
			return i;
	return SCHEMA_NO_FIELD;
}

/* Return the index of the first step after 'step' that is not inside 'step'. */
static uint32_t
next_sibling(const struct draft *d, uint32_t step)
{
	const struct schema_step *const s = &d->steps[step];

	return s->kind == STEP_FIELD ? step + 1 : s->end;
}

/* Does a sibling of the next new step have this name? */
static bool
has_sibling(const struct draft *d, const char *name)
{
	for (uint32_t i = d->first_sibling; i < d->step_count;
	     i = next_sibling(d, i))
		if (strcmp(d->steps[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Count the siblings of the next new step that had this name before the names
 * were made unique.
 */
static unsigned
count_siblings(const struct draft *d, const char *name)
{
	unsigned count = 0;

	for (uint32_t i = d->first_sibling; i < d->step_count;
	     i = next_sibling(d, i))
		count += strcmp(d->origins[i].name, name) == 0;
	return count;
}

/*
 * Return a name for the next new step: 'name' or, if a sibling has this name, a
 * name made from 'name' that no sibling has.  Return NULL on failure.
 */
static const char *
sibling_name(struct draft *d, const char *name)
{
	char text[300];
	const char *copy = name;

	snprintf(text, sizeof(text), "%s", name);
	for (unsigned i = count_siblings(d, name) + 1; has_sibling(d, text);
	     i++)
		snprintf(text, sizeof(text), "%.260s_%u", name, i);
	if (strcmp(text, name) != 0)
		copy = arena_text(d->b->arena, text, strlen(text));
	if (copy == NULL)
		build_no_memory(d->b);
	return copy;
}

uint32_t
draft_add_step(struct draft *d, enum schema_step_kind kind, const char *name)
{
	const char *const own_name = sibling_name(d, name);

	if (own_name == NULL || !grow_steps(d))
		return SCHEMA_NO_FIELD;
	d->steps[d->step_count] =
		(struct schema_step){ .kind = kind, .name = own_name };
	d->origins[d->step_count] = (struct step_origin){ d->repeat, name };
	return d->step_count++;
}

struct schema_field *
draft_add_field(struct draft *d, const char *name, struct dtd_place place)
{
	const uint32_t step = draft_add_step(d, STEP_FIELD, name);

	if (step == SCHEMA_NO_FIELD)
		return NULL;
	if (d->field_count == SCHEMA_MAX_FIELDS) {
		build_fail(d->b, place, "a record has more than %d fields",
			   SCHEMA_MAX_FIELDS);
		return NULL;
	}
	if (++d->b->all_field_count > SCHEMA_MAX_ALL_FIELDS) {
		build_fail(d->b, place,
			   "the records of all sections together have more "
			   "than %u fields",
			   SCHEMA_MAX_ALL_FIELDS);
		return NULL;
	}
	if (!grow_fields(d))
		return NULL;
	d->steps[step].field = d->field_count;
	d->repeat_of[d->field_count] = d->repeat;
	d->fields[d->field_count] = (struct schema_field){
		.name = name,
		.width_from = SCHEMA_NO_FIELD,
		.value_from = SCHEMA_NO_FIELD,
		.interpretation = DTD_NONE,
		.place = place,
	};
	return &d->fields[d->field_count++];
}

bool
draft_is_number(const struct draft *d, uint32_t field)
{
	return !d->fields[field].is_bytes && !d->fields[field].is_tag;
}

void
draft_fini(struct draft *d)
{
	free(d->fields);
	free(d->repeat_of);
	free(d->steps);
	free(d->origins);
}
