/* SPDX-License-Identifier: MIT */
/*
 * trellis.h - find the cheapest path through the states of a field
 *
 * A field is in one of eight states when a record uses it.  The states form two
 * groups of four: state 2k is number k of the first group, and state 2k + 1 is
 * number k of the second.  Each use has a class, which determines its cost in
 * each state.  The rules give the cost of changing the state between two uses.
 * trellis_run() computes the least cost of reaching each state after each use.
 * Then trellis_trace() finds the cheapest path (Viterbi's algorithm).
 *
 * The costs of all eight states are computed at once, as lanes of 16 bits: on
 * x86 in one register, elsewhere in loops with the same result.
 *
 * Costs are in bytes.  There is at least one state in which every use costs at
 * most 8, so the least cost of TRELLIS_USES uses stays far below 2^15.
 * TRELLIS_NEVER is the cost of a forbidden state or change.  It is higher than
 * what any change can save.
 *
 * These functions change only what their arguments point to.  They keep the
 * rules of encoder.h for code in traced programs, and any thread may call them.
 */
#ifndef HATF_TRELLIS_H
#define HATF_TRELLIS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define TRELLIS_STATES	8
#define TRELLIS_CLASSES 64
#define TRELLIS_USES	512
#define TRELLIS_NEVER	2048

/*
 * A use whose class has this bit is tied: the state must not change before the
 * use.  The rules must forbid these changes (TRELLIS_NEVER): within[1], which
 * this bit selects, forbids every change within a group, and 'enter' of each
 * tied class forbids every change to the other group.
 */
#define TRELLIS_TIED 32

struct trellis_costs {
	_Alignas(16) int16_t state[TRELLIS_STATES];
};

/*
 * The cost of a state after a use is the least of the sums in this table.  Each
 * sum is the cost of one state before the use ("from") plus the costs given:
 *
 *	from				cost
 *	the same state			stay
 *	another state of its group	stay + within
 *	the same number, other group	enter + across
 *	any state of the other group	enter + aslant
 *
 * 'within' is within[1] if the use is tied, else within[0]; 'stay' and 'enter'
 * are those of the use's class.  The index of 'within', 'stay' and 'enter' is
 * the state after the use.  The index of 'across' and 'aslant' is the partner
 * of this state: the state with the same number in the other group.
 */
struct trellis_rules {
	struct trellis_costs within[2], across, aslant;
	struct trellis_costs stay[TRELLIS_CLASSES], enter[TRELLIS_CLASSES];
};

struct trellis_path {
	/*
	 * 'costs' has, for each use, the cost of each state after this use.
	 * 'stayed' has, for each use, the bits '1 << state' of the states whose
	 * cheapest path was in the same state before this use.  The first 8
	 * bytes of 'stayed' are padding with all bits set.
	 */
	struct trellis_costs costs[TRELLIS_USES];
	uint8_t stayed[8 + TRELLIS_USES];
};

/*
 * A change of the state in a path: from use 'use' on, the field is in 'state'.
 */
struct trellis_turn {
	uint16_t use, state;
};

struct trellis_job {
	const struct trellis_rules *rules;
	/* cost of each state before the first use */
	const struct trellis_costs *start;
	const uint8_t *classes; /* the class of each use */
	struct trellis_path *path;
};

/*
 * Return the state with the least cost.  If several states have this cost,
 * return the lowest of them.
 */
unsigned trellis_cheapest(const struct trellis_costs *c);

/* Fill in 'path' for 'n' uses, at most TRELLIS_USES. */
void trellis_run(const struct trellis_job *job, size_t n);

/* Like trellis_run(), but for two fields at once, with 'n' uses each. */
void trellis_run_two(const struct trellis_job *a, const struct trellis_job *b,
		     size_t n);

/*
 * Store the turns of the cheapest path in 'turns', the last turn first.  Return
 * the number of turns, which is at most 'n'.  '*first_ret' is the state of the
 * path before the first use.
 */
size_t trellis_trace(const struct trellis_job *job, size_t n,
		     struct trellis_turn *turns, unsigned *first_ret);

#endif /* HATF_TRELLIS_H */
