/* SPDX-License-Identifier: MIT */
/*
 * judge.h - check a placement and compute its cost
 *
 * Goes through a span with its changes as a writer would.  Fails the running
 * test if a change is illegal or out of order, or if a value does not fit.
 */
#ifndef TESTS_JUDGE_H
#define TESTS_JUDGE_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "tests/unit/support/mini.h"

struct judge {
	struct layout layout;
	size_t nbytes[HATF_FIELD_COUNT]; /* data and metadata, by field */
};

static inline size_t
judge_total(const struct judge *j)
{
	size_t sum = 0;

	for (unsigned field = 0; field < HATF_FIELD_COUNT; field++)
		sum += j->nbytes[field];
	return sum;
}

static inline void
judge_number(struct judge *j, unsigned field, uint64_t value)
{
	struct layout_field *const f = &j->layout.field[field];

	mini_check(layout_fits(f, value));
	mini_check(layout_value(
			   f, f->nbytes == 0
				      ? 0
				      : layout_raw(f, value) &
						UINT64_MAX >>
							(64 - 8 * f->nbytes)) ==
		   value);
	layout_use(f, value);
	j->nbytes[field] += f->nbytes;
}

static inline void
judge_attributes(struct judge *j, size_t nbytes)
{
	const unsigned width = j->layout.field[HATF_FIELD_ATTRIBUTES].width;

	j->nbytes[HATF_FIELD_ATTRIBUTES] += nbytes;
	if (width == HATF_WIDTH_V1)
		mini_check(nbytes <= UINT8_MAX);
	else if (width != HATF_WIDTH_V2)
		mini_check(nbytes == width);
	if (width >= HATF_WIDTH_V1)
		j->nbytes[HATF_FIELD_ATTRIBUTES] += width - HATF_WIDTH_V1 + 1;
}

static inline void
judge_record(struct judge *j, const struct hatf_record *r)
{
	const uint64_t values[] = { r->size, r->address, r->time, r->thread,
				    r->heap };

	if (r->tag == HATF_COMMENT)
		return;
	if (r->tag >= HATF_REALLOC_NO_ALLOC && r->tag <= HATF_REALLOC_FREE)
		judge_number(j, HATF_FIELD_ADDRESS, r->old_address);
	for (unsigned field = 0; field < LAYOUT_NUMBER_COUNT; field++)
		if (layout_tag_fields(r->tag) & 1u << field)
			judge_number(j, field, values[field]);
	judge_attributes(j, r->attributes_nbytes);
}

static inline void
judge_change(struct judge *j, const struct hatf_metadata *m)
{
	uint8_t bytes[LAYOUT_METADATA_MAX_NBYTES];

	mini_check(layout_apply(&j->layout, m) == NULL);
	/*
	 * A writer must not set a width for an interpretation that stores
	 * nothing.
	 */
	mini_check(m->op != HATF_SET_FIELD_SIZE ||
		   j->layout.field[m->field].width == m->argument);
	j->nbytes[m->field] += layout_put_metadata(bytes, m);
}

/* Go through records[0, n); 'changes' must be all used up. */
static inline void
judge_span(struct judge *j, const struct hatf_record *records, size_t n,
	   const struct place_change *changes, size_t count)
{
	size_t next = 0;

	for (size_t i = 0; i < n; i++) {
		for (; next < count && changes[next].before == i; next++)
			judge_change(j, &changes[next].metadata);
		judge_record(j, &records[i]);
	}
	mini_check(next == count);
}

#endif /* TESTS_JUDGE_H */
