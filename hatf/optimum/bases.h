/* SPDX-License-Identifier: MIT */
/*
 * bases.h - the states of a field under baseOffset, for every base at once
 *
 * There are 2^64 bases, but the costs ('costs.h') are the same for whole ranges
 * of them: a value splits the bases into those that it is within 1, 2, 4 bytes
 * of, and since any base costs at most a metadata record more than the best
 * state of all, a range that has not been of use lately soon costs what its
 * neighbours do.  So the costs are kept by range, exactly.  Most of the time
 * there are about ten ranges; a thousand if many small regions have once been of
 * the same use, but then few different costs, which the ranges share.
 */
#ifndef HATF_BASES_H
#define HATF_BASES_H

#include "hatf/optimum/costs.h"

#include <stddef.h>

struct bases_range {
	uint64_t start; /* the first base; the last is before the next range */
	uint32_t kind;	/* its costs, as an index of 'costs' */
};

/* Where costs with some hash are, if 'turn' is this one. */
struct bases_slot {
	uint64_t turn;
	uint32_t kind;
};

#define BASES_SLOT_COUNT 256

struct bases {
	bool any; /* all bases; else only the one that 'ranges' has */
	struct costs forbidden;
	struct bases_range *ranges, *spare_ranges; /* in order of 'start' */
	struct costs *costs, *spare_costs;
	size_t count, kind_count;
	uint32_t *kinds; /* new ones by old ones */
	struct bases_slot slots[BASES_SLOT_COUNT];
	uint64_t turn;
	/* The least costs by last width, and which range has them. */
	cost4 best, best_index;
	int32_t never, never_index;
};

/* Room for 'value_count' values.  False if there is no memory. */
bool bases_init(struct bases *b, size_t value_count);
void bases_fini(struct bases *b);

/*
 * Start: either all bases, or 'base' alone, each infinitely expensive.
 * 'forbidden' as for costs_switch().
 */
void bases_start(struct bases *b, bool any, uint64_t base,
		 const struct costs *forbidden);

/* The field is under 'base' now, which has cost 'costs'; unless that is out. */
void bases_enter(struct bases *b, uint64_t base, const struct costs *costs);

/*
 * Metadata may stand here: set a width, or set baseOffset and perhaps a width,
 * at the cost of 'entry'.
 */
void bases_switch(struct bases *b, const struct costs *entry);

/*
 * Use 'value'.  Afterwards 'best' and 'never' are the least costs by last width
 * of all ranges, and the indices say which range has them.
 */
void bases_use(struct bases *b, uint64_t value);

static inline const struct costs *
bases_costs(const struct bases *b, size_t index)
{
	return &b->costs[b->ranges[index].kind];
}

/* The base with most zero bits at its end, of a range; from 'first' to 'last'. */
uint64_t bases_pick(const struct bases *b, size_t index);
uint64_t bases_round(uint64_t first, uint64_t last);

#endif /* HATF_BASES_H */
