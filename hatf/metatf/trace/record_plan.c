/* SPDX-License-Identifier: MIT */
/* record_plan.c - see record_plan.h */
#include "hatf/metatf/trace/record_plan.h"

#include <stdlib.h>

const uint8_t plan_no_bytes[1];

/* Can a plan read records of this type?  Return 'is_simple' of the plan. */
static bool
is_simple(const struct schema_record *r)
{
	for (uint32_t i = 0; i < r->step_count; i++)
		if (r->steps[i].kind == STEP_REPEAT)
			return false;
	for (uint32_t i = 0; i < r->field_count; i++)
		if (r->fields[i].has_value && !r->fields[i].is_tag)
			return false;
	return true;
}

/*
 * Is this field a number that has the same value in each record, and that no
 * field needs as its previous value?
 */
static bool
is_constant(const struct section_state *s, const struct field_state *f)
{
	return f->kind == FIELD_NUMBER && f->width == 0 && f->keep == 0 &&
	       s->keep_counts[f->history] == 0;
}

/* Is this field of bytes empty in every record? */
static bool
is_empty(const struct record_plan *p, const struct section_state *s,
	 const struct schema_record *r, const struct field_state *f)
{
	if (f->kind != FIELD_BYTES)
		return false;
	if (f->width_from == SCHEMA_NO_FIELD)
		return f->bytes_width == 0;
	return is_constant(s, &s->fields[r->first_field + f->width_from]) &&
	       p->values[f->width_from].number == 0;
}

static void
plan_field(struct record_plan *p, const struct section_state *s,
	   const struct schema_record *r, uint32_t field)
{
	const struct field_state *const f = &s->fields[r->first_field + field];

	p->values[field] = (struct mtf_value){ 0, NULL };
	if (r->fields[field].is_tag)
		p->values[field].number = r->tag;
	else if (is_constant(s, f))
		p->values[field].number = f->add;
	else if (is_empty(p, s, r, f))
		p->values[field].bytes = plan_no_bytes;
	else
		p->ops[p->op_count++] = (struct plan_op){
			.state = f,
			.field = field,
			.is_observed = s->keep_counts[f->history] != 0,
		};
}

bool
record_plan_make(struct record_plan *p, const struct section_state *s,
		 const struct schema_record *record)
{
	if (p->version == 0) {
		p->ops = calloc(record->field_count + 1, sizeof(*p->ops));
		p->values = calloc(record->field_count + 1, sizeof(*p->values));
		if (p->ops == NULL || p->values == NULL) {
			record_plan_fini(p);
			return false;
		}
		p->is_simple = is_simple(record);
	}
	p->version = s->version;
	p->op_count = 0;
	for (uint32_t i = 0; p->is_simple && i < record->field_count; i++)
		plan_field(p, s, record, i);
	return true;
}

void
record_plan_fini(struct record_plan *p)
{
	free(p->ops);
	free(p->values);
	*p = (struct record_plan){ 0 };
}
