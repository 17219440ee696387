/* SPDX-License-Identifier: MIT */
/*
 * bases.h - the states of a field under baseOffset, for every base at once
 *
 * There are 2^64 bases, but the bases form ranges in which all bases have the
 * same costs (costs.h).  So one 'struct costs' for each range is enough for an
 * exact result.  Values make the ranges: a value divides the bases by the
 * number of bytes (0, 1, 2, 4 or 8) that the offset of the value from the base
 * needs.
 *
 * Usually there are only about ten ranges.  A change to another base takes one
 * or two metadata records, so no base costs more than the cheapest state plus
 * these records.  All bases that no recent value favoured soon have these
 * highest costs, and bases_switch() merges neighbouring ranges with equal
 * costs.  There may be a thousand ranges if many bases far apart were once
 * equally useful, but these ranges then share a few different 'struct costs'.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_BASES_H
#define HATF_BASES_H

#include "hatf/optimum/costs.h"

#include <stddef.h>

struct bases_range {
	/*
	 * the first base of the range; the range ends before the next range
	 * begins
	 */
	uint64_t start;
	uint32_t kind; /* index of the range's costs in 'costs' */
};

/*
 * A slot of a hash table of costs.  'kind' is the index in 'costs' of an
 * element whose hash selects this slot.  The slot is valid only if its 'turn'
 * equals 'turn' of 'struct bases'.
 */
struct bases_slot {
	uint64_t turn;
	uint32_t kind;
};

#define BASES_SLOT_COUNT 256

struct bases {
	bool any; /* all bases are allowed; else only the base in 'ranges' */
	struct costs forbidden;
	/* the ranges, sorted by 'start', and memory to compute new ranges */
	struct bases_range *ranges, *spare_ranges;
	struct costs *costs, *spare_costs;
	size_t count, kind_count;
	/*
	 * A table from old indices in 'costs' to new ones.  In bases_switch(),
	 * kinds[i] is the new index of the element that had the index i.  In
	 * bases_use(), kinds[FITS_COUNT * i + k] is the index in 'spare_costs'
	 * of the sum costs[i] + costs_of_use[k].
	 */
	uint32_t *kinds;
	struct bases_slot slots[BASES_SLOT_COUNT];
	uint64_t turn;
	/*
	 * For each last nonzero width, 'best' has the least cost of all ranges,
	 * and 'best_index' the index of a range that has this cost.  'never'
	 * and 'never_index' are the least cost and the range for the one state
	 * that has no such width, because no width was ever nonzero.
	 */
	cost4 best, best_index;
	int32_t never, never_index;
};

/*
 * Allocate memory for at most 'value_count' values.  Return false if there is
 * no memory.  The caller must call bases_fini() in either case.
 */
bool bases_init(struct bases *b, size_t value_count);

/* Free the memory. */
void bases_fini(struct bases *b);

/*
 * Start with all bases if 'any' is true, else with 'base' alone.  All costs are
 * infinite.  costs_switch() explains 'forbidden'.
 */
void bases_start(struct bases *b, bool any, uint64_t base,
		 const struct costs *forbidden);

/*
 * Set the costs of 'base', which is the field's present base; do nothing if
 * 'base' is not allowed.  Call this only directly after bases_start().
 */
void bases_enter(struct bases *b, uint64_t base, const struct costs *costs);

/*
 * Take into account that metadata may precede the next value: either a record
 * that sets a width, or records that set 'baseOffset' and perhaps a width.
 * 'entry' has the cost of each state directly after the records that set
 * 'baseOffset'.
 */
void bases_switch(struct bases *b, const struct costs *entry);

/*
 * Add the costs of storing 'value' to the costs of each range.  Then set
 * 'best', 'best_index', 'never' and 'never_index'.
 */
void bases_use(struct bases *b, uint64_t value);

/* Return the costs of range number 'index'. */
static inline const struct costs *
bases_costs(const struct bases *b, size_t index)
{
	return &b->costs[b->ranges[index].kind];
}

/*
 * bases_pick() returns the base with the most trailing zero bits among all
 * bases of range number 'index'.  bases_round() returns the base with the most
 * trailing zero bits from 'first' to 'last'.
 */
uint64_t bases_pick(const struct bases *b, size_t index);
uint64_t bases_round(uint64_t first, uint64_t last);

#endif /* HATF_BASES_H */
