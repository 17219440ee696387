/* SPDX-License-Identifier: MIT */
/*
 * bases.h - the states of a field under baseOffset, for every base at once
 *
 * There are 2^64 bases, but whole ranges of them have the same costs (costs.h).
 * A value divides the bases by the number of bytes (1, 2, 4 or 8) in which it
 * can be stored relative to them.  No base costs more than the best state of
 * all plus a metadata record, so a range that has not been useful lately soon
 * has the costs of its neighbours.  Hence the costs are kept by range; this is
 * exact.  Usually there are about ten ranges.  There may be a thousand if many
 * small regions were once equally useful, but then there are few different
 * costs, which the ranges share.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_BASES_H
#define HATF_BASES_H

#include "hatf/optimum/costs.h"

#include <stddef.h>

struct bases_range {
	/* the first base; the next range begins after the last */
	uint64_t start;
	uint32_t kind; /* index of its costs in 'costs' */
};

/*
 * A hash slot: where costs with this hash are, valid if 'turn' is the current
 * one.
 */
struct bases_slot {
	uint64_t turn;
	uint32_t kind;
};

#define BASES_SLOT_COUNT 256

struct bases {
	bool any; /* all bases; else only the one in 'ranges' */
	struct costs forbidden;
	struct bases_range *ranges, *spare_ranges; /* sorted by 'start' */
	struct costs *costs, *spare_costs;
	size_t count, kind_count;
	uint32_t *kinds; /* maps old indices of 'costs' to new ones */
	struct bases_slot slots[BASES_SLOT_COUNT];
	uint64_t turn;
	/* The least costs by last width, and the ranges that have them. */
	cost4 best, best_index;
	int32_t never, never_index;
};

/*
 * Allocate for at most 'value_count' values; false if there is no memory.  Call
 * bases_fini() in either case.
 */
bool bases_init(struct bases *b, size_t value_count);

/* Free the memory. */
void bases_fini(struct bases *b);

/*
 * Start with all bases, or with 'base' alone, at infinite costs.  'forbidden'
 * is as for costs_switch().
 */
void bases_start(struct bases *b, bool any, uint64_t base,
		 const struct costs *forbidden);

/*
 * Set the costs of 'base', which the field has now, unless 'base' is not
 * allowed.
 */
void bases_enter(struct bases *b, uint64_t base, const struct costs *costs);

/*
 * Allow metadata here: it sets a width, or sets baseOffset and perhaps a width
 * at the costs 'entry'.
 */
void bases_switch(struct bases *b, const struct costs *entry);

/*
 * Add the costs of storing 'value'.  Then 'best' and 'never' are the least
 * costs by last width over all ranges, and the indices are those of their
 * ranges.
 */
void bases_use(struct bases *b, uint64_t value);

/* Return the costs of the range with this index. */
static inline const struct costs *
bases_costs(const struct bases *b, size_t index)
{
	return &b->costs[b->ranges[index].kind];
}

/*
 * Return the base with the most trailing zero bits of a range, or from 'first'
 * to 'last'.
 */
uint64_t bases_pick(const struct bases *b, size_t index);
uint64_t bases_round(uint64_t first, uint64_t last);

#endif /* HATF_BASES_H */
