/* SPDX-License-Identifier: MIT */
/*
 * walk_exit.h - the way out of the recorder's own code, in which walks begin
 *
 * Each walk begins in hidden code, the recorder's own.  There are only a few
 * ways out, and each is short: one to four return addresses in hidden code, and
 * then the first visible one.  struct walk_exit describes one way out.  All
 * offsets count from the stack pointer at the start of the walk.  The place of
 * each return address follows from the hidden return addresses further in.  If
 * memory has all hidden return addresses of a way out, the walk has therefore
 * taken this way, and no unwind rule is needed.
 *
 * Like a struct walk, a struct walk_exits is used by a single thread.
 */
#ifndef WALK_EXIT_H
#define WALK_EXIT_H

#include <stdbool.h>
#include <stdint.h>

#define WALK_EXIT_FRAMES 4u

struct walk_exit {
	/*
	 * The hidden return addresses and their offsets.  If there are fewer
	 * than WALK_EXIT_FRAMES, the first one is repeated.
	 */
	uintptr_t hidden[WALK_EXIT_FRAMES];
	uint16_t hidden_slot[WALK_EXIT_FRAMES];
	/*
	 * offset of the first visible return address; 0: this struct is unused
	 */
	uint16_t slot;
	/* offset where the outermost hidden function saved RBP; 0: nowhere */
	uint16_t bp_slot;
	/*
	 * offset of the word that holds RBP's value after the exit; 0: the exit
	 * leaves RBP unchanged
	 */
	uint16_t bp;
};

#define WALK_EXITS 8u

/* Starts as all zeros. */
struct walk_exits {
	/*
	 * indices in 'exits' of the exit that was used last, and of the exit to
	 * replace next
	 */
	uint8_t last, next;
	struct walk_exit exits[WALK_EXITS];
};

/* The first frame that is not hidden. */
struct walk_outlet {
	uintptr_t slot, address;
	uintptr_t bp_slot; /* like 'bp_slot' of struct walk_frame */
	uintptr_t bp;	   /* the frame pointer in the visible function */
};

static inline __attribute__((always_inline)) bool
walk_exit_holds(const struct walk_exit *e, uintptr_t sp, uintptr_t high)
{
	const uint16_t *const at = e->hidden_slot;
	const uintptr_t *const hidden = e->hidden;

	/*
	 * The visible return address is the outermost word.  If it is below
	 * 'high', all words are.
	 */
	if (e->slot == 0 || sp + e->slot >= high)
		return false;
	return ((*(const uintptr_t *)(sp + at[0]) ^ hidden[0]) |
		(*(const uintptr_t *)(sp + at[1]) ^ hidden[1]) |
		(*(const uintptr_t *)(sp + at[2]) ^ hidden[2]) |
		(*(const uintptr_t *)(sp + at[3]) ^ hidden[3])) == 0;
}

/*
 * Find the first visible frame of a walk from 'sp' with the frame pointer 'bp'.
 * The stack can be read up to 'high'.  Return false if no known way out matches
 * the stack.
 */
static inline __attribute__((always_inline)) bool
walk_exits_find(struct walk_exits *exits, uintptr_t sp, uintptr_t bp,
		uintptr_t high, struct walk_outlet *outlet_ret)
{
	const struct walk_exit *e = &exits->exits[exits->last];

	if (__builtin_expect(!walk_exit_holds(e, sp, high), 0)) {
		for (e = exits->exits; !walk_exit_holds(e, sp, high); e++)
			if (e == &exits->exits[WALK_EXITS - 1])
				return false;
		exits->last = (uint8_t)(e - exits->exits);
	}
	outlet_ret->slot = sp + e->slot;
	outlet_ret->address = *(const uintptr_t *)outlet_ret->slot;
	outlet_ret->bp_slot = e->bp_slot != 0 ? sp + e->bp_slot : 0;
	outlet_ret->bp = e->bp != 0 ? *(const uintptr_t *)(sp + e->bp) : bp;
	return outlet_ret->address != 0;
}

#endif /* WALK_EXIT_H */
