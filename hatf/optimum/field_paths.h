/* SPDX-License-Identifier: MIT */
/*
 * field_paths.h - the cheapest metadata for the values of one number field
 *
 * A use of the field is a value and its record.  Metadata may precede each use
 * except the second address of a realloc.  The result is exact: no other legal
 * metadata within the technique takes fewer bytes.  Fields are independent, so
 * the cheapest for each is the cheapest for all.
 *
 * The problem is a shortest path.  An *episode* is a sequence of uses under one
 * set fieldInterpretation.  The cost of starting one depends on the past only
 * through the last nonzero width.  So it is enough to keep, before each use,
 * the least cost for each last width: 'struct field_paths_gap'.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_FIELD_PATHS_H
#define HATF_FIELD_PATHS_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/optimum/bases.h"
#include "hatf/optimum/rules.h"

/* Indices of last widths: 0 to 3 for 1, 2, 4 and 8, then "no width ever". */
#define FIELD_PATHS_NEVER 4

/* The origin of a cost: an interpretation, and a flag for width 0. */
enum {
	FIELD_PATHS_INTERPRETATION = 7,
	FIELD_PATHS_EMPTY = 8,
};

/* The least costs before a use, by last width, and their origins. */
struct field_paths_gap {
	cost4 cost, from;
	int32_t never, never_from;
	uint64_t base[FIELD_PATHS_NEVER + 1]; /* if the origin is baseOffset */
};

/* An episode of the cheapest path, see path_metadata.h. */
struct episode {
	size_t start, end; /* uses */
	unsigned interpretation;
	unsigned lane; /* at its first use */
	unsigned last; /* last width before it began */
	uint64_t base;
	bool is_under_way; /* it began before the span */
};

struct field_paths {
	/* The uses. */
	size_t count;
	uint64_t *values;
	uint32_t *records; /* their indices in the span */
	bool *tied;	   /* no metadata may precede this use */
	/* The state of the field at the start, and what is allowed. */
	unsigned field;
	const struct layout_field *state;
	bool restart;
	struct rules rules;
	/* The forward pass. */
	struct field_paths_gap *gaps; /* one more than uses */
	struct bases bases;
	/* The backward pass, see path_metadata.h. */
	struct episode *episodes;
	uint8_t (*choices)[COST_LANE_COUNT];
};

/* Allocate for at most 'value_count' uses; NULL if there is no memory. */
struct field_paths *field_paths_new(size_t value_count);

/* NULL is allowed. */
void field_paths_free(struct field_paths *p);

/* Remove all uses; append a use.  'tied': no metadata may precede it. */
void field_paths_clear(struct field_paths *p);
void field_paths_add(struct field_paths *p, uint64_t value, uint32_t record,
		     bool tied);

/*
 * Find the least costs of 'field' before each use and after the last one.
 * 'state' and 'restart' are as for a planner, see place.h.
 * path_metadata_place() finds the metadata that has these costs.
 */
void field_paths_find_costs(struct field_paths *p, unsigned field,
			    const struct layout_field *state, bool restart,
			    const struct technique_field *technique);

/* Return the most metadata records that a field with this many uses takes. */
size_t field_paths_change_max(size_t value_count);

/*
 * Return the total cost of starting an episode before use 'i', by the state at
 * that use, without the cost of the use itself.
 */
struct costs field_paths_begin(const struct field_paths *p, size_t i,
			       unsigned interpretation);

/* Values under default and stride are computed: their width is always 0. */
static inline bool
field_paths_is_computed(unsigned interpretation)
{
	return interpretation == HATF_DEFAULT || interpretation == HATF_STRIDE;
}

/* Return the lane of 'struct costs' for the state of a field. */
static inline unsigned
field_paths_lane(const struct layout_field *f)
{
	if (f->width != 0)
		return (unsigned)__builtin_ctz(f->width);
	if (f->last_width == 0)
		return COST_LANE_NEVER;
	return COST_LANE_EMPTY + (unsigned)__builtin_ctz(f->last_width);
}

/* Return the index of the last width of a lane. */
static inline unsigned
field_paths_last_width(unsigned lane)
{
	return lane < COST_LANE_EMPTY ? lane : lane - COST_LANE_EMPTY;
}

#endif /* HATF_FIELD_PATHS_H */
