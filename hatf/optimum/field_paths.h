/* SPDX-License-Identifier: MIT */
/*
 * field_paths.h - the cheapest metadata for the values of one number field
 *
 * A use of the field is a value and the record that has it; metadata may stand
 * before each use, except before the second address of a realloc.  The result
 * is exact: no other legal metadata within the technique gives fewer bytes.
 * Fields know nothing of each other, so the cheapest for each is the cheapest
 * for all.
 *
 * It is a shortest path.  An *episode* is a stretch of uses under one
 * set fieldInterpretation.  What it costs to begin one depends on the past only
 * by the last width that was not 0; so all that must be kept for each use is the
 * least cost before it for each last width, 'struct field_paths_gap'.
 */
#ifndef HATF_FIELD_PATHS_H
#define HATF_FIELD_PATHS_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/optimum/bases.h"
#include "hatf/optimum/rules.h"

/* Last widths 1, 2, 4 and 8, then "never any", which has the number: */
#define FIELD_PATHS_NEVER 4

/* Where a cost came from: an interpretation, and whether the width was 0. */
enum {
	FIELD_PATHS_INTERPRETATION = 7,
	FIELD_PATHS_EMPTY = 8,
};

/* The least costs before a use, by last width, and how they came about. */
struct field_paths_gap {
	cost4 cost, from;
	int32_t never, never_from;
	uint64_t base[FIELD_PATHS_NEVER + 1]; /* if from baseOffset */
};

/* What 'path_metadata.h' finds. */
struct episode {
	size_t start, end; /* uses */
	unsigned interpretation;
	unsigned lane; /* at its first use */
	unsigned last; /* width before it began */
	uint64_t base;
	bool is_under_way; /* it began before the window */
};

struct field_paths {
	/* The uses. */
	size_t count;
	uint64_t *values;
	uint32_t *records; /* their indices in the window */
	bool *tied;	   /* no metadata before it */
	/* The field at the start, and what it may do. */
	unsigned field;
	const struct layout_field *state;
	bool restart;
	struct rules rules;
	/* The way there. */
	struct field_paths_gap *gaps; /* one more than uses */
	struct bases bases;
	/* The way back: see path_metadata.h. */
	struct episode *episodes;
	uint8_t (*choices)[LANE_COUNT];
};

/* Room for 'value_count' uses.  NULL if there is no memory. */
struct field_paths *field_paths_new(size_t value_count);
void field_paths_free(struct field_paths *n);

/* Forget the uses, then add them in order. */
void field_paths_clear(struct field_paths *n);
void field_paths_add(struct field_paths *n, uint64_t value, uint32_t record,
		     bool tied);

/*
 * Find the least costs of 'field' before each use, and after the last one.
 * 'state' and 'restart' are as for a planner, see place.h.  The metadata that has
 * these costs is found by path_metadata_place(), 'path_metadata.h'.
 */
void field_paths_find_costs(struct field_paths *n, unsigned field,
			    const struct layout_field *state, bool restart,
			    const struct technique_field *technique);

/* The most metadata records that a field with so many uses takes. */
size_t field_paths_change_max(size_t value_count);

/*
 * What it costs in all to begin an episode before use 'i', by the state at that
 * use; without what the use costs.
 */
struct costs field_paths_begin(const struct field_paths *n, size_t i,
			       unsigned interpretation);

/* Default and stride have no width but 0. */
static inline bool
field_paths_is_held(unsigned interpretation)
{
	return interpretation == HATF_DEFAULT || interpretation == HATF_STRIDE;
}

/* The state of a field as a lane of 'struct costs'. */
static inline unsigned
field_paths_lane(const struct layout_field *f)
{
	if (f->width != 0)
		return (unsigned)__builtin_ctz(f->width);
	if (f->last_width == 0)
		return LANE_NEVER;
	return LANE_EMPTY + (unsigned)__builtin_ctz(f->last_width);
}

/* The last width that a lane leaves behind. */
static inline unsigned
field_paths_last_width(unsigned lane)
{
	return lane < LANE_EMPTY ? lane : lane - LANE_EMPTY;
}

#endif /* HATF_FIELD_PATHS_H */
