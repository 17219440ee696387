/* SPDX-License-Identifier: MIT */
/*
 * waste.h - the bytes that the blocks of a trace would take in other allocators
 *
 * size_tables.h computes the bytes of each block.  The sums correspond to those
 * of the census: live bytes, allocated bytes, and, as in an account
 * (account.h), the live bytes at the peak of the census.
 */
#ifndef WASTE_H
#define WASTE_H

#include "tools/summary/account.h"
#include "tools/summary/size_tables.h"

/*
 * Maximum size that is looked up in the table 'small'.  Nearly all blocks are
 * that small.
 */
#define WASTE_SMALL 4096

/* Sums of the bytes that blocks take in one allocator. */
struct waste_sum {
	uint64_t live, saved, allocated;
};

struct waste {
	struct waste_sum sums[SIZE_TABLE_COUNT];
	uint64_t epoch; /* epoch at the last change of 'live' */
	struct size_tables tables;
	/*
	 * Row 'r' contains the number of bytes that a block takes if its size
	 * is from 8 * r - 7 to 8 * r.  The number is the same for these eight
	 * sizes.
	 */
	uint32_t small[WASTE_SMALL / 8 + 1][SIZE_TABLE_COUNT];
};

/* Begin without any block. */
void waste_init(struct waste *w);

/* Count a new block as live.  With 'is_event', count it as allocated, too. */
void waste_begin(struct waste *w, uint64_t epoch, uint64_t size, bool is_event);

/* Count the end of a block. */
void waste_end(struct waste *w, uint64_t epoch, uint64_t size);

/* Clear all counters but those of live blocks, because a window begins. */
void waste_restart(struct waste *w);

/*
 * Return the live bytes at the last peak.  'epoch' must be the trace's current
 * epoch, which began at that peak.
 */
uint64_t waste_at_peak(const struct waste *w, enum size_table table,
		       uint64_t epoch);

#endif /* WASTE_H */
