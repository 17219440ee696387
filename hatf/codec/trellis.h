/* SPDX-License-Identifier: MIT */
/*
 * trellis.h - the cheapest way through the states of a field
 *
 * A field can be in one of eight states when a record uses it: two groups of
 * four, state 2k being number k of the first group and 2k + 1 of the second.
 * Each use has a class, which tells what it costs in each state; changing the
 * state between two uses costs as the rules say.  trellis_run() finds what each
 * state costs at best after each use, trellis_trace() the cheapest path from
 * that (Viterbi's algorithm).
 *
 * All eight are computed at once, as lanes of 16 bits: x86 has them in one
 * register, and other machines get loops that mean the same.
 *
 * Costs are in bytes.  A use costs at most 8 in some state that every value
 * fits, so that TRELLIS_USES of them stay far below 16 bits, and
 * TRELLIS_NEVER is more than any change is worth.
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

/* A class with this bit lets no change precede the use. */
#define TRELLIS_TIED 32

struct trellis_costs {
	_Alignas(16) int16_t state[TRELLIS_STATES];
};

/*
 * What a use in a state costs: the least of
 *   stay   from the same state, or from another one of the group for 'within'
 *          more ('within[1]' where the use is tied);
 *   enter  from the state with the same number in the other group for 'across'
 *          more, or from any one there for 'aslant' more.
 * 'within' goes by the state that is entered, 'across' and 'aslant' by the one
 * in the other group that has its number.
 */
struct trellis_rules {
	struct trellis_costs within[2], across, aslant;
	struct trellis_costs stay[TRELLIS_CLASSES], enter[TRELLIS_CLASSES];
};

struct trellis_path {
	/* After each use: what each state costs, and the bits '1 << state' of
	 * those in which nothing changed before the use.  'stayed' begins with
	 * bytes that are never changed. */
	struct trellis_costs costs[TRELLIS_USES];
	uint8_t stayed[8 + TRELLIS_USES];
};

/* From use 'use' on the field is in 'state'. */
struct trellis_turn {
	uint16_t use, state;
};

struct trellis_job {
	const struct trellis_rules *rules;
	const struct trellis_costs *start; /* what each state costs before */
	const uint8_t *classes;		   /* of each use */
	struct trellis_path *path;
};

/* Fill in the path of 'n' uses, at most TRELLIS_USES. */
void trellis_run(const struct trellis_job *job, size_t n);

/* Like trellis_run(), but for two fields with as many uses at once. */
void trellis_run_two(const struct trellis_job *a, const struct trellis_job *b,
		     size_t n);

/*
 * The turns of the cheapest path, the last one first, at most 'n' of them;
 * '*first_ret' is the state of 'start' that it begins in.
 */
size_t trellis_trace(const struct trellis_job *job, size_t n,
		     struct trellis_turn *turns, unsigned *first_ret);

#endif /* HATF_TRELLIS_H */
