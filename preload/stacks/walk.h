/* SPDX-License-Identifier: MIT */
/*
 * walk.h - find the return addresses on the calling thread's stack
 *
 * A struct walk keeps the stack that a thread's latest walk has found.  The
 * next walk uses unwind rules only until it reaches a place where the stored
 * stack has the same return address.  From there outwards, the place of each
 * frame follows from the next inner frame.  So the walk only compares memory
 * with the stored values: return addresses, and frame pointers that functions
 * saved.  If nothing has changed, the stored outer frames are still right.
 *
 * For most frames, the stack pointer alone determines the place.  Comparing
 * such a frame takes one load, independent of the other loads.  The code says
 * that the other frames "need care".
 *
 * Frames are kept outermost first, so that the common part need not be moved.
 */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/rings/stack_image.h"
#include "preload/stacks/walk_exit.h"

/*
 * The maximum depth, and the maximum number of frames that are kept.  A walk
 * keeps up to twice the depth.  If a stack has more frames, the stack is walked
 * again, and only its innermost 'depth' frames are kept.  A deep recursion
 * therefore loses many outer frames at once, instead of one with each call.
 */
#define WALK_DEPTH_MAX	256u
#define WALK_FRAMES_MAX (2 * WALK_DEPTH_MAX)

/*
 * A frame of the stored stack.  The next walk compares 'address' with the word
 * at 'slot'.
 */
struct walk_place {
	uintptr_t slot;	   /* address of the return address */
	uintptr_t address; /* the return address */
};

struct walk_frame {
	/*
	 * The frame pointer of the caller.  As long as no frame further out
	 * needs care, this value may be out of date.  follow_bp() then updates
	 * it before a walk uses it.
	 */
	uintptr_t bp;
	/*
	 * The address where 'bp' was saved.  WALK_BP_KEPT: 'bp' was not saved;
	 * it equals the 'bp' of the next inner frame.  WALK_BY_ROW: the address
	 * is unknown, because the walk found the frame by a whole row or by the
	 * frame pointer, and not by a packed rule (unwind_rule.h).
	 */
	uintptr_t bp_slot;
	/* The 'bp' of the next inner frame determines this frame's place. */
	bool is_by_bp;
	/*
	 * Number of frames from the outermost to this one that need care: those
	 * with WALK_BY_ROW or 'is_by_bp'.
	 */
	uint16_t care_count;
	/*
	 * Number of the stack from the outermost frame to this one.  The caller
	 * of walk_stack() stores it here; 0: not known yet.
	 */
	uint32_t node;
	/*
	 * hash of walk_mark() and the addresses from the outermost frame to
	 * this one
	 */
	uint64_t key;
};

/* Number of entries in the table that finds a frame by its slot. */
#define WALK_SLOTS 512u

#define WALK_BP_KEPT ((uintptr_t)0)
#define WALK_BY_ROW  ((uintptr_t)1)

/* Why a walk has ended. */
enum walk_end {
	WALK_OUTERMOST, /* the unwind rules name no caller */
	WALK_ZERO,	/* the return address is 0: there is no caller */
	WALK_CUT,	/* the walk stopped after 'depth' frames */
	WALK_LOST,	/* a frame has no rules, or is damaged */
};

/*
 * The state of the walks of one thread.  Only that thread uses it.  It starts
 * as all zeros.
 */
struct walk {
	/*
	 * Number of frames of the stack that the latest walk has found.
	 * 'place' and 'frame' hold these frames, outermost first.
	 */
	uint32_t count;
	/*
	 * The outermost 'same_count' frames are the same as in the previous
	 * stack.  In these frames, 'node' still has the value that the caller
	 * stored there.  Only tests read this count.
	 */
	uint32_t same_count;
	enum walk_end end;
	uint32_t depth; /* 1 to WALK_DEPTH_MAX; the caller sets it */
	struct walk_exits exits;
	/*
	 * A hash table that gives the index of a frame for the frame's slot.
	 * An entry may be out of date, so compare the slot of the frame.
	 */
	uint16_t idx_of_slot[WALK_SLOTS];
	struct walk_place place[WALK_FRAMES_MAX];
	struct walk_frame frame[WALK_FRAMES_MAX];
	/* The frames of the current walk, innermost first. */
	struct walk_place inner_place[WALK_FRAMES_MAX];
	struct walk_frame inner[WALK_FRAMES_MAX];
};

/*
 * Return the mark that stands for the missing callers of the outermost frame;
 * 0 if no caller is missing.  If only one frame is wanted, callers that were
 * cut off do not count as missing.
 */
static inline uint32_t
walk_mark(const struct walk *walk)
{
	if (walk->end == WALK_LOST)
		return STACK_MARK_LOST;
	return walk->end == WALK_CUT && walk->depth > 1 ? STACK_MARK_CUT : 0;
}

/*
 * Return the exit that the latest walk has used.  Call this only if
 * walk_stack() was given an outlet in that walk.
 */
static inline const struct walk_exit *
walk_last_exit(const struct walk *walk)
{
	return &walk->exits.exits[walk->exits.last];
}

/* The registers at the start of a walk. */
struct walk_context {
	uintptr_t pc, sp, bp;
};

/* Return the registers of the function into which this call is inlined. */
static inline __attribute__((always_inline)) struct walk_context
walk_here(void)
{
	struct walk_context here;

	__asm__ volatile("leaq 0(%%rip), %0\n\t"
			 "movq %%rsp, %1\n\t"
			 "movq %%rbp, %2"
			 : "=r"(here.pc), "=r"(here.sp), "=r"(here.bp));
	return here;
}

/*
 * Walk the calling thread's stack from 'context'.  Leave out the innermost
 * frames, as long as their code lies in ['hidden_begin', 'hidden_end').
 * 'outlet' is what walk_exits_find() has found, or NULL.
 */
void walk_stack(struct walk *walk, const struct walk_context *context,
		const struct walk_outlet *outlet, uintptr_t hidden_begin,
		uintptr_t hidden_end);

#endif /* WALK_H */
