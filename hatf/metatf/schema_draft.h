/* SPDX-License-Identifier: MIT */
/* schema_draft.h - a record that is being made (used by schema_build.c) */
#ifndef HATF_SCHEMA_DRAFT_H
#define HATF_SCHEMA_DRAFT_H

#include "hatf/metatf/schema_build.h"

/* Stands for "no repetition". */
#define DRAFT_NO_REPEAT UINT32_MAX

/* Where a step comes from. */
struct step_origin {
	/*
	 * index of the step of the innermost repetition that contains this
	 * step, or DRAFT_NO_REPEAT
	 */
	uint32_t repeat;
	const char *name; /* the step's name before the name was made unique */
};

/* A record that is being made. */
struct draft {
	struct build *b;
	struct schema_field *fields;
	/*
	 * for each field: index of the step of the innermost repetition that
	 * contains the field, or DRAFT_NO_REPEAT
	 */
	uint32_t *repeat_of;
	uint32_t field_count, field_capacity;
	struct schema_step *steps;
	struct step_origin *origins; /* for each step: its origin */
	uint32_t step_count, step_capacity;
	/* The place that the walk through the fields has reached. */
	/*
	 * index of the step of the innermost repetition that contains this
	 * place, or DRAFT_NO_REPEAT
	 */
	uint32_t repeat;
	/* index of the first sibling of the next new step */
	uint32_t first_sibling;
	/* The records that contain the present place. */
	const struct dtd_record *open[DTD_MAX_DEPTH + 1];
	unsigned depth;
};

/*
 * Return the last field with this name before the present place, or
 * SCHEMA_NO_FIELD.  Ignore a field in a repetition that does not contain the
 * present place, because such a field may have several values or none.
 */
uint32_t draft_earlier_field(const struct draft *d, const char *name);

/*
 * Is the field a number, but not the tag?  Only then can its value be a count
 * or the width of other fields.
 */
bool draft_is_number(const struct draft *d, uint32_t field);

/* Add a step and return its index, or SCHEMA_NO_FIELD. */
uint32_t draft_add_step(struct draft *d, enum schema_step_kind kind,
			const char *name);

/* Add a field without properties.  Return NULL on failure. */
struct schema_field *draft_add_field(struct draft *d, const char *name,
				     struct dtd_place place);

void draft_fini(struct draft *d);

#endif /* HATF_SCHEMA_DRAFT_H */
