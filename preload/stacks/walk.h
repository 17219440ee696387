/* SPDX-License-Identifier: MIT */
/*
 * walk.h - the return addresses on the calling thread's stack
 *
 * A walk keeps the last stack of its thread.  The next one goes by rules only
 * until it comes to a place of a return address where the last stack had the
 * same return address.  From there outward each frame's place follows from the
 * frame before it.  So the walk only compares memory with what the last walk
 * found there: return addresses, and frame pointers where functions saved them.
 * If nothing has changed, the outer frames are those of the last stack.
 *
 * Most frames need no care: their place follows from the stack pointer alone.
 * To compare them takes one load each, independent of each other.
 *
 * Frames are kept outermost first, so that the common part stays where it is.
 */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The most frames of a stack.  One that grows beyond it is walked again, and
 * then keeps the innermost 'depth' of them, half as many: so a deep recursion
 * loses its outer frames all at once and not one with each call.
 */
#define WALK_DEPTH_MAX	256u
#define WALK_FRAMES_MAX (2 * WALK_DEPTH_MAX)

/* What is compared with memory. */
struct walk_place {
	uintptr_t slot;	   /* where the return address is */
	uintptr_t address; /* the return address */
};

struct walk_frame {
	/*
	 * The frame pointer of the caller.  Only those of frames beside which a
	 * frame needs care are kept up to date.
	 */
	uintptr_t bp;
	/*
	 * Where that was saved; WALK_BP_KEPT: it is that of the frame further
	 * in.  WALK_BY_ROW: the frame was found by more than a frame pointer.
	 */
	uintptr_t bp_slot;
	bool is_by_bp; /* the frame further in gave the place by its bp */
	/* Frames from the outermost to here that are by row or by bp. */
	uint16_t care_count;
	/* The user's number of the stack from the outermost frame to here; 0
	 * when the frame is new. */
	uint32_t node;
	uint64_t key; /* a hash of the addresses from the outermost to here */
};

/* Entries of the table that finds a frame by its slot. */
#define WALK_SLOTS 512u

#define WALK_BP_KEPT ((uintptr_t)0)
#define WALK_BY_ROW  ((uintptr_t)1)

/*
 * The way from the start of a walk out of the hidden code, which is short and
 * the same each time: two return addresses in hidden code, and then the first
 * one that is not hidden.  All offsets are from the stack pointer of the start.
 * They follow from the two addresses, so these are all that must be compared.
 */
struct walk_exit {
	uintptr_t inner, outer; /* the hidden return addresses; 0: unused */
	uint16_t outer_slot;	/* where 'outer' is */
	uint16_t slot;		/* where the first visible address is */
	uint16_t bp_slot; /* where that frame saved the frame pointer; or 0 */
	uint16_t bp;	  /* where the frame pointer is then; 0: unchanged */
};

#define WALK_EXITS 16u

/* Why a walk has ended. */
enum walk_end {
	WALK_OUTERMOST, /* there is no caller */
	WALK_CUT,	/* there are more frames than may be */
	WALK_LOST,	/* a frame without rules, or damaged */
};

/* Of one thread, which alone uses it.  All 0 at first. */
struct walk {
	/* The last stack: its frames, outermost first. */
	uint32_t count;
	/*
	 * How many of them, from the outermost, are as in the stack before, so
	 * that 'node' is what the user has stored there.
	 */
	uint32_t same_count;
	enum walk_end end;
	uint32_t depth;	     /* set by the owner: 1 to WALK_DEPTH_MAX */
	uint16_t inner_slot; /* of 'inner' in all exits; 0: not known yet */
	uint8_t last_exit;
	struct walk_exit exits[WALK_EXITS];
	/*
	 * Where a frame with this slot is if there is one: the frame itself
	 * says whether it is there.
	 */
	uint16_t idx_of_slot[WALK_SLOTS];
	struct walk_place place[WALK_FRAMES_MAX];
	struct walk_frame frame[WALK_FRAMES_MAX];
	/* Of the current walk, innermost first. */
	struct walk_place inner_place[WALK_FRAMES_MAX];
	struct walk_frame inner[WALK_FRAMES_MAX];
};

/* Where a walk begins. */
struct walk_context {
	uintptr_t pc, sp, bp;
};

/* The place of the call. */
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
 * Walk from 'context', a place in the calling thread; frames whose code lies in
 * ['hidden_begin', 'hidden_end') are left out if they are the innermost.
 */
void walk_stack(struct walk *walk, const struct walk_context *context,
		uintptr_t hidden_begin, uintptr_t hidden_end);

#endif /* WALK_H */
