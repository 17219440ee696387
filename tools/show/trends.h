/* SPDX-License-Identifier: MIT */
/*
 * trends.h - how what is live changes through a trace, by group
 *
 * The trace is divided into TREND_COUNT equal parts of its time, or of its
 * events where it has no times.  A trend is what is live at the end of each
 * part.  Its moments are exact to 1/64 of the trace (history.h); the last one
 * is exact.
 */
#ifndef TRENDS_H
#define TRENDS_H

#include "tools/summary/groups.h"

#define TREND_COUNT 10

struct trend {
	uint64_t nbytes[TREND_COUNT];
	/*
	 * The live bytes grow: from part 'since' on, they never fell from one
	 * part to the next, rose at least three times and in half of the parts,
	 * and rose in one of the last three.
	 */
	bool grows;
	unsigned since; /* parts before the first rise, from 0 */
};

/*
 * Return the trends of all groups of stacks, by row; the caller frees the
 * array.  NULL: no memory.
 */
struct trend *trends_find(const struct groups *g);

/* The moment at the end of part 'i', as a distance from the axis's start. */
uint64_t trends_moment(const struct census *c, unsigned i);

#endif /* TRENDS_H */
