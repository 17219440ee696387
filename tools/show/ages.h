/* SPDX-License-Identifier: MIT */
/*
 * ages.h - how old the blocks are that live at the end
 *
 * The age of a block is counted from the alloc of its object, in events and in
 * time units, to the last event; reallocs do not make it younger.  Of inherited
 * and carried blocks only the least age is known, from the start of the trace.
 */
#ifndef AGES_H
#define AGES_H

#include "tools/summary/groups.h"

/* In events, and in time units. */
struct age {
	uint64_t events, time;
};

/* The median is that of the blocks; of two in the middle, the older one. */
struct ages {
	struct age oldest, newest, median;
	uint64_t count;
	uint64_t smallest, largest; /* bytes of a block */
};

/*
 * Return the ages of each group's live blocks: an array, by row of the group,
 * which the caller frees.  NULL: no memory.  Takes 32 bytes for each live
 * block.
 */
struct ages *ages_find(const struct groups *g,
		       const struct hatf_events *events);

#endif /* AGES_H */
