/* SPDX-License-Identifier: MIT */
/*
 * field_paths.h - the cheapest metadata for the values of one number field
 *
 * A use of the field is a value and its record.  Between two uses is a gap,
 * where metadata may stand, except before the second address of a realloc.  The
 * result is exact: with any other legal metadata within the technique, metadata
 * and values together take at least as many bytes.  The fields are independent,
 * so the cheapest metadata for each field is also the cheapest metadata for all
 * fields together.
 *
 * The problem is a shortest path.  An *episode* is a sequence of uses under one
 * "set fieldInterpretation" record.  Of all that came before, only the last
 * nonzero width influences the cost of starting an episode.  So it is enough to
 * keep, before each use, the least cost for each last width: 'struct
 * field_paths_gap'.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_FIELD_PATHS_H
#define HATF_FIELD_PATHS_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/optimum/bases.h"
#include "hatf/optimum/rules.h"

/*
 * The index of a last nonzero width: 0 to 3 for 1, 2, 4 and 8 bytes,
 * FIELD_PATHS_NEVER if no width was ever nonzero.
 */
#define FIELD_PATHS_NEVER 4

/*
 * Bits of 'from' and 'never_from' in 'struct field_paths_gap': a mask for the
 * interpretation, and a flag for width 0.
 */
enum {
	FIELD_PATHS_INTERPRETATION = 7,
	FIELD_PATHS_EMPTY = 8,
};

/*
 * The gap before a use.  For each last nonzero width, 'cost' has the least cost
 * of a path to this gap, and 'from' has the bits above for the last episode of
 * the path.  'never' and 'never_from' are for paths on which no width was ever
 * nonzero.
 */
struct field_paths_gap {
	cost4 cost, from;
	int32_t never, never_from;
	/* the base, if the interpretation is baseOffset */
	uint64_t base[FIELD_PATHS_NEVER + 1];
};

/* An episode of the cheapest path, see path_metadata.h. */
struct episode {
	/* indices of the first use, and of the use after the last one */
	size_t start, end;
	unsigned interpretation;
	unsigned lane; /* lane (costs.h) of the state at the first use */
	unsigned last; /* index of the last width before the episode */
	uint64_t base;
	bool is_under_way; /* the episode began before the span */
};

struct field_paths {
	/*
	 * The uses of the field: their number, and arrays with one element for
	 * each use.
	 */
	size_t count;
	uint64_t *values;
	uint32_t *records; /* for each use, index of its record in the span */
	bool *tied;	   /* true: no metadata may precede the use */
	/*
	 * The arguments of field_paths_find_costs(), and the rules for the
	 * values.
	 */
	unsigned field;
	const struct layout_field *state;
	bool restart;
	struct rules rules;
	/* The results of the forward pass. */
	struct field_paths_gap *gaps; /* one gap more than there are uses */
	struct bases bases;
	/* The results of the backward pass (path_metadata.h). */
	struct episode *episodes;
	uint8_t (*choices)[COST_LANE_COUNT];
};

/*
 * Return an object with room for 'value_count' uses, or NULL if there is no
 * memory.
 */
struct field_paths *field_paths_new(size_t value_count);

/* Free the memory.  'p' may be NULL. */
void field_paths_free(struct field_paths *p);

/*
 * field_paths_clear() removes all uses, field_paths_add() appends one.  If
 * 'tied' is true, no metadata may precede the appended use.
 */
void field_paths_clear(struct field_paths *p);
void field_paths_add(struct field_paths *p, uint64_t value, uint32_t record,
		     bool tied);

/*
 * Find the least costs of 'field' before each use and after the last one.
 * 'state' is the state of the field before the span; place.h explains
 * 'restart'.  path_metadata_place() finds the metadata that has these costs.
 */
void field_paths_find_costs(struct field_paths *p, unsigned field,
			    const struct layout_field *state, bool restart,
			    const struct technique_field *technique);

/*
 * Return the maximum number of metadata records for a field with 'value_count'
 * uses.
 */
size_t field_paths_change_max(size_t value_count);

/*
 * Start an episode under 'interpretation' at use 'i'.  Return the cost of each
 * state (costs.h) after the metadata records that start the episode, and before
 * use 'i': the cost of the cheapest path to the gap before use 'i', plus the
 * lengths of these records.
 */
struct costs field_paths_begin(const struct field_paths *p, size_t i,
			       unsigned interpretation);

/*
 * Is the width always 0 under this interpretation?  It is under default and
 * stride, because their values are computed.
 */
static inline bool
field_paths_is_computed(unsigned interpretation)
{
	return interpretation == HATF_DEFAULT || interpretation == HATF_STRIDE;
}

/* Return the lane of 'struct costs' that stands for the state of a field. */
static inline unsigned
field_paths_lane(const struct layout_field *f)
{
	if (f->width != 0)
		return (unsigned)__builtin_ctz(f->width);
	if (f->last_width == 0)
		return COST_LANE_NEVER;
	return COST_LANE_EMPTY + (unsigned)__builtin_ctz(f->last_width);
}

/* Return the index of the last nonzero width that a lane stands for. */
static inline unsigned
field_paths_last_width(unsigned lane)
{
	return lane < COST_LANE_EMPTY ? lane : lane - COST_LANE_EMPTY;
}

#endif /* HATF_FIELD_PATHS_H */
