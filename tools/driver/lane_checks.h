/* SPDX-License-Identifier: MIT */
/*
 * lane_checks.h - check the order of the calls while a trace is replayed
 *
 * Each slot has a state: free, live, or in a call.  A call that finds its slot
 * in another state than it must is a mistake of the replay: a block is freed
 * before it was allocated, or two threads have the same slot.  The first bytes
 * of each block say which block it is, so an allocator that gives the same
 * memory to two blocks makes a mistake, too.
 *
 * At random places the threads pause, so that calls which nothing keeps in
 * order do happen in another one.
 */
#ifndef LANE_CHECKS_H
#define LANE_CHECKS_H

#include "tools/driver/replay_words.h"

#include <stdatomic.h>
#include <stdbool.h>

struct lane_checks {
	_Atomic uint8_t *states; /* by slot */
	uint64_t *sizes;	 /* of the blocks, by slot */
	uint64_t pause_mask;	 /* one of this + 1 places is a pause */
	bool has_memory;	 /* blocks can be written to */
};

/* Of a thread: begins as any number but 0. */
typedef uint64_t lane_random;

/*
 * To be called before and after a call of 'kind' with a slot.  'before' is
 * given the block in the slot, and 'after' the one that the call has returned,
 * of 'size' bytes.  Return NULL or what is wrong; static.
 */
const char *lane_check_before(struct lane_checks *checks, lane_random *random,
			      enum word_kind kind, uint32_t slot,
			      const void *block);
const char *lane_check_after(struct lane_checks *checks, lane_random *random,
			     enum word_kind kind, uint32_t slot, void *block,
			     uint64_t size);

#endif /* LANE_CHECKS_H */
