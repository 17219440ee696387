/* SPDX-License-Identifier: MIT */
/*
 * waste.h - what the blocks of a trace would take in other allocators
 *
 * Each block takes what size_tables.h says.  The sums follow the census: what
 * is live and what was allocated, and, in the same way as an account
 * (account.h), what was live at the peak of the trace's own bytes.
 */
#ifndef WASTE_H
#define WASTE_H

#include "tools/summary/account.h"
#include "tools/summary/size_tables.h"

/* Sizes up to here are looked up: nearly all blocks have one of these. */
#define WASTE_SMALL 4096

/* Bytes that blocks take, in each allocator. */
struct waste_sum {
	uint64_t live, saved, allocated;
};

struct waste {
	struct waste_sum sums[SIZE_TABLE_COUNT];
	uint64_t epoch; /* of the last change */
	struct size_tables tables;
	/* What sizes from 8 * row - 7 to 8 * row take: the same. */
	uint32_t small[WASTE_SMALL / 8 + 1][SIZE_TABLE_COUNT];
};

/* Begin without any block. */
void waste_init(struct waste *w);

/* A block begins; 'is_event' as in the census: it is allocated, too. */
void waste_begin(struct waste *w, uint64_t epoch, uint64_t size, bool is_event);

/* A block ends. */
void waste_end(struct waste *w, uint64_t epoch, uint64_t size);

/* Clear all counters but those of live blocks: a window begins. */
void waste_restart(struct waste *w);

/* What was live at the peak, which began epoch 'epoch', the last one. */
uint64_t waste_at_peak(const struct waste *w, enum size_table table,
		       uint64_t epoch);

#endif /* WASTE_H */
