/* SPDX-License-Identifier: MIT */
/*
 * ages.h - the ages of the blocks that are live at the end
 *
 * The age of a block is the number of events, or of time units, from the call
 * that allocated it to the last event.  A block that the last event allocated
 * has age 0.  A realloc does not begin a new age.  The age of an inherited or
 * carried block is only a lower bound, because the block is older than the
 * trace.  In a snapshot this bound is 0.
 */
#ifndef AGES_H
#define AGES_H

#include "tools/summary/groups.h"

/* An age in events, and in time units. */
struct age {
	uint64_t events, time;
};

/*
 * Ages of the blocks of a group.  'median' is the age of the block in the
 * middle; if there are two blocks in the middle, it is the age of the older
 * one.
 */
struct ages {
	struct age oldest, newest, median;
	uint64_t count;
	/*
	 * How many of the blocks are inherited or carried.  These are the
	 * oldest blocks.
	 */
	uint64_t older_count;
	/* sizes of the smallest and of the largest block, in bytes */
	uint64_t smallest, largest;
};

/*
 * Return the ages of each group's live blocks, in an array indexed by the row
 * of the group.  The caller frees the array.  Return NULL if there is no
 * memory.  Takes 32 to 64 bytes for each live block.
 */
struct ages *ages_find(const struct groups *g,
		       const struct hatf_events *events);

#endif /* AGES_H */
