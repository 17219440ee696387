/* SPDX-License-Identifier: MIT */
/*
 * lane_checks.h - check the order of the calls while a trace is replayed
 *
 * Each slot has a state: free, live, or in a call.  If a call finds its slot in
 * a wrong state, the replay has made a mistake: it frees or resizes a block
 * before it allocated the block, or two threads use the same slot at once.  The
 * checks fill the first page of each block with a mark, computed from the
 * number of its slot.  Therefore the checks also find an allocator that gives
 * memory to two blocks at once, whose calloc does not clear a block, or whose
 * realloc loses the contents of a block.
 *
 * The threads also pause at random.  Two calls that do not wait for each other
 * then often happen in a different order from the trace.  If one of them should
 * have waited, a slot is in a wrong state.
 */
#ifndef LANE_CHECKS_H
#define LANE_CHECKS_H

#include "tools/driver/replay_words.h"

#include <stdatomic.h>
#include <stdbool.h>

struct lane_checks {
	_Atomic uint8_t *states; /* indexed by slot */
	uint64_t *sizes;	 /* sizes of the blocks, indexed by slot */
	/*
	 * Each call has four places at which its thread may pause.  At each of
	 * them, the thread pauses with probability 1 / (pause_mask + 1).
	 */
	uint64_t pause_mask;
	bool has_memory; /* false for the null allocator */
	/* also check that blocks have the alignment that the call asked for */
	bool checks_alignment;
};

/*
 * The state of a thread's random number generator.  It starts as any number but
 * 0.
 */
typedef uint64_t lane_random;

/*
 * Check a slot before and after a call of 'kind' that uses it.  Both functions
 * return NULL, or a static text that describes the mistake.
 *
 *	block		the block that is in the slot at that moment, or NULL
 *	size		the bytes that the call asked for; 0 for a free, and for
 *			a call that failed
 *	alignment	the alignment that the call asked for, or 0
 */
const char *lane_check_before(struct lane_checks *checks, lane_random *random,
			      enum word_kind kind, uint32_t slot,
			      const void *block);
const char *lane_check_after(struct lane_checks *checks, lane_random *random,
			     enum word_kind kind, uint32_t slot, void *block,
			     uint64_t size, uint64_t alignment);

#endif /* LANE_CHECKS_H */
