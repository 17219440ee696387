/* SPDX-License-Identifier: MIT */
/*
 * lane_sizes.h - usable bytes of blocks, and bytes asked for
 *
 * There are two sums over all live blocks: the bytes that the program asked
 * for, and the usable bytes, which malloc_usable_size() returns.  The result is
 * both sums at the peak of the bytes that the program asked for.  With several
 * threads, a sum may lack a call that another thread makes at the same moment.
 */
#ifndef LANE_SIZES_H
#define LANE_SIZES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a block that the program asked for, and its usable bytes. */
struct lane_amount {
	uint64_t asked, usable;
};

struct lane_sizes {
	size_t (*usable_size)(void *block);
	struct lane_amount *blocks; /* indexed by slot */
	_Atomic uint64_t asked, usable;
	_Atomic uint64_t peak_asked, peak_usable;
};

/*
 * Note the result of a call: the block in a slot now has 'size' bytes, or was
 * freed ('block' is NULL).
 */
void lane_sizes_note(struct lane_sizes *sizes, uint32_t slot, void *block,
		     uint64_t size);

#endif /* LANE_SIZES_H */
