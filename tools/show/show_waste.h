/* SPDX-License-Identifier: MIT */
/*
 * show_waste.h - show the waste of blocks in other allocators
 *
 * An allocator rounds up the size of a block, and glibc adds a header.  The
 * bytes added in this way are the waste of the block.  The census sums up the
 * waste only if census_count_waste() was called before the first event.
 */
#ifndef SHOW_WASTE_H
#define SHOW_WASTE_H

#include "tools/show/show.h"

/* The columns of the table. */
enum {
	WASTE_AT_PEAK = 1 << 0,
	WASTE_AT_END = 1 << 1,
	WASTE_ALLOCATED = 1 << 2,
};

/* Write an empty line and a table with a line for each allocator. */
void show_waste(struct out *o, const struct census *c, unsigned columns);

/* Return an object with a member for each allocator. */
json_t *show_json_waste(const struct census *c);

#endif /* SHOW_WASTE_H */
