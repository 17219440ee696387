/* SPDX-License-Identifier: MIT */
/*
 * optimum.c - see optimum.h
 *
 * The planner finds the metadata for each of the six fields separately, as a
 * list of changes in the order of the records, and then merges the lists.
 */
#include "hatf/optimum/optimum.h"

#include "hatf/codec/hatf_record.h"
#include "hatf/optimum/field_paths.h"
#include "hatf/optimum/path_metadata.h"
#include "hatf/optimum/widths.h"

#include <stdlib.h>

/* A realloc uses the address field twice. */
#define VALUE_MAX (2 * OPTIMUM_SPAN)

struct optimum {
	const struct technique *technique;
	struct field_paths *paths;
	struct widths *widths;
	/*
	 * The changes of all fields: first all those of field 0, then those of
	 * field 1, ...
	 */
	struct place_change *changes;
	/* Index in 'changes' of each field's first change. */
	size_t start[HATF_FIELD_COUNT + 1];
};

struct optimum *
optimum_new(const struct technique *technique)
{
	struct optimum *const o = calloc(1, sizeof(*o));
	size_t max = field_paths_change_max(VALUE_MAX);

	if (o == NULL)
		return NULL;
	max += (HATF_FIELD_COUNT - 1) * field_paths_change_max(OPTIMUM_SPAN);
	o->technique = technique;
	o->paths = field_paths_new(VALUE_MAX);
	o->widths = widths_new(OPTIMUM_SPAN);
	o->changes = malloc(max * sizeof(*o->changes));
	if (o->paths != NULL && o->widths != NULL && o->changes != NULL)
		return o;
	optimum_free(o);
	return NULL;
}

void
optimum_free(struct optimum *o)
{
	if (o == NULL)
		return;
	field_paths_free(o->paths);
	widths_free(o->widths);
	free(o->changes);
	free(o);
}

void
optimum_choose(struct optimum *o, const struct technique *technique)
{
	o->technique = technique;
}

static size_t
place_number_field(struct optimum *o, unsigned field,
		   const struct layout *layout, bool restart,
		   const struct hatf_record *records, size_t n,
		   struct place_change *changes)
{
	const struct technique_field *const techniques[] = {
		[HATF_FIELD_SIZE] = &o->technique->size,
		[HATF_FIELD_ADDRESS] = &o->technique->address,
		[HATF_FIELD_TIME] = &o->technique->other,
		[HATF_FIELD_THREAD] = &o->technique->other,
		[HATF_FIELD_HEAP] = &o->technique->other,
	};

	field_paths_clear(o->paths);
	for (size_t i = 0; i < n; i++) {
		const struct hatf_record *const rec = &records[i];
		const bool is_pair = field == HATF_FIELD_ADDRESS &&
				     hatf_record_is_realloc(rec);

		if (!(layout_tag_fields(rec->tag) & 1u << field))
			continue;
		if (is_pair)
			field_paths_add(o->paths, rec->old_address, (uint32_t)i,
					false);
		field_paths_add(o->paths, hatf_record_number(rec, field),
				(uint32_t)i, is_pair);
	}
	field_paths_find_costs(o->paths, field, &layout->field[field], restart,
			       techniques[field]);
	return path_metadata_place(o->paths, changes);
}

static size_t
place_attributes(struct optimum *o, const struct layout *layout, bool restart,
		 const struct hatf_record *records, size_t n,
		 struct place_change *changes)
{
	widths_clear(o->widths);
	for (size_t i = 0; i < n; i++)
		if (records[i].tag != HATF_COMMENT)
			widths_add(o->widths, records[i].attributes_nbytes,
				   (uint32_t)i);
	return widths_place(o->widths, &layout->field[HATF_FIELD_ATTRIBUTES],
			    restart, o->technique->any_attributes, changes);
}

/*
 * Merge the changes of all fields into 'changes' in the order of the records.
 * Stop at the first record whose changes do not fit into 'changes'.  Return the
 * number of records before that record, or 'n' if all changes fit.
 */
static size_t
merge(struct optimum *o, size_t n, struct place_change *changes, size_t cap,
      size_t *count_ret)
{
	size_t next[HATF_FIELD_COUNT];

	for (unsigned field = 0; field < HATF_FIELD_COUNT; field++)
		next[field] = o->start[field];
	*count_ret = 0;
	for (;;) {
		size_t before = n;
		size_t count = *count_ret;

		for (unsigned f = 0; f < HATF_FIELD_COUNT; f++)
			if (next[f] != o->start[f + 1] &&
			    o->changes[next[f]].before < before)
				before = o->changes[next[f]].before;
		if (before == n)
			return n;
		for (unsigned f = 0; f < HATF_FIELD_COUNT; f++) {
			while (next[f] != o->start[f + 1] &&
			       o->changes[next[f]].before == before) {
				if (count == cap)
					return before;
				changes[count++] = o->changes[next[f]++];
			}
		}
		*count_ret = count;
	}
}

size_t
optimum_span(void *optimum, const struct layout *layout, bool restart,
	     const struct hatf_record *records, size_t n,
	     struct place_change *changes, size_t cap, size_t *count_ret)
{
	struct optimum *const o = optimum;
	size_t used = 0;

	for (unsigned field = 0; field < LAYOUT_NUMBER_COUNT; field++) {
		o->start[field] = used;
		used += place_number_field(o, field, layout, restart, records,
					   n, o->changes + used);
	}
	o->start[HATF_FIELD_ATTRIBUTES] = used;
	used += place_attributes(o, layout, restart, records, n,
				 o->changes + used);
	o->start[HATF_FIELD_COUNT] = used;
	return merge(o, n, changes, cap, count_ret);
}
