/* SPDX-License-Identifier: MIT */
/*
 * record_plan.h - the operations that read a record of one kind
 *
 * Most fields of most records store nothing, because their value is a default.
 * A plan has the values that need no work, and a list of operations for the
 * other values.  Metadata in a section invalidates the plans of the section.
 *
 * An operation stores a number in 'previous' of struct section_state only if a
 * field with the same history now has the interpretation delta or stride: no
 * other interpretation uses a previous value.  Metadata that later sets delta
 * or stride also sets the previous value.
 */
#ifndef HATF_RECORD_PLAN_H
#define HATF_RECORD_PLAN_H

#include "hatf/metatf/trace/field_state.h"
#include "hatf/metatf/trace/mtf_reader.h"

struct plan_op {
	const struct field_state *state;
	uint32_t field;
	bool is_observed; /* the reader must store the number in 'previous' */
};

struct record_plan {
	/* Version of the section's state; 0: there is no plan. */
	uint64_t version;
	/* No field is repeated, and no value must be checked. */
	bool is_simple;
	uint32_t op_count;
	struct plan_op *ops;
	/* for each field: its value, if the value needs no operation */
	struct mtf_value *values;
};

/* 'bytes' of struct mtf_value points here if a field of bytes is empty. */
extern const uint8_t plan_no_bytes[1];

/* Make or renew the plan of a record.  Return false if there is no memory. */
bool record_plan_make(struct record_plan *p, const struct section_state *s,
		      const struct schema_record *record);
void record_plan_fini(struct record_plan *p);

#endif /* HATF_RECORD_PLAN_H */
