/* SPDX-License-Identifier: MIT */
/* lane_sizes.c - see lane_sizes.h */
#include "tools/driver/lane_sizes.h"

void
lane_sizes_note(struct lane_sizes *sizes, uint32_t slot, void *block,
		uint64_t size)
{
	struct lane_amount *const old = &sizes->blocks[slot];
	const struct lane_amount now = {
		block != NULL ? size : 0,
		block != NULL ? sizes->usable_size(block) : 0,
	};
	/* The atomic operations are relaxed: the sums order no other data. */
	const uint64_t usable = atomic_fetch_add_explicit(
		&sizes->usable, now.usable - old->usable, memory_order_relaxed);
	const uint64_t asked = atomic_fetch_add_explicit(
		&sizes->asked, now.asked - old->asked, memory_order_relaxed);
	const uint64_t live = asked + now.asked - old->asked;

	if (live >
	    atomic_load_explicit(&sizes->peak_asked, memory_order_relaxed)) {
		atomic_store_explicit(&sizes->peak_asked, live,
				      memory_order_relaxed);
		atomic_store_explicit(&sizes->peak_usable,
				      usable + now.usable - old->usable,
				      memory_order_relaxed);
	}
	*old = now;
}
