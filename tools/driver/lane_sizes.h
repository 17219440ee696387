/* SPDX-License-Identifier: MIT */
/*
 * lane_sizes.h - what blocks can hold, beside what was asked for
 *
 * malloc_usable_size() of each block, summed up over the live blocks.  Kept are
 * the sums when most bytes asked for were live.  With several threads, a sum
 * may lack what another thread does at the same moment.
 */
#ifndef LANE_SIZES_H
#define LANE_SIZES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes asked for, and usable. */
struct lane_amount {
	uint64_t asked, usable;
};

struct lane_sizes {
	size_t (*usable_size)(void *block);
	struct lane_amount *blocks; /* by slot */
	_Atomic uint64_t asked, usable;
	_Atomic uint64_t peak_asked, peak_usable;
};

/*
 * A call has made or resized the block in a slot, of 'size' bytes, or freed it:
 * then 'block' is NULL.
 */
void lane_sizes_note(struct lane_sizes *sizes, uint32_t slot, void *block,
		     uint64_t size);

#endif /* LANE_SIZES_H */
