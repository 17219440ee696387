/* SPDX-License-Identifier: MIT */
/*
 * replay_limit.h - the limits of 'hatf replay --fail-if'
 *
 * - EXPR = TERM { "," TERM }: one of the terms holds;
 * - TERM = [NAME "."] MEASURE ">" BOUND: an allocator exceeds the bound;
 * - BOUND = NUMBER "*" NAME: a multiple of another allocator's value;
 * - BOUND = NUMBER [UNIT]: an amount; a time other than 0 needs a unit;
 * - UNIT = "K" | "M" | "G" | "ns" | "us" | "ms" | "s".
 *
 * NAME is the label of an allocator (allocators.h), MEASURE one of
 * replay_measure_words.  A TERM without NAME applies to every allocator except
 * the one in BOUND.  An allocator exceeds a bound if each of its runs exceeds
 * the bound.  For the allocator in BOUND, the value is the median of its runs.
 */
#ifndef REPLAY_LIMIT_H
#define REPLAY_LIMIT_H

#include "tools/replay/runs.h"

#define REPLAY_LIMITS_MAX 32

/* REPLAY_ANY, in place of the index of an allocator: the user named none. */
#define REPLAY_ANY ALLOCATORS_MAX

struct replay_limit {
	unsigned subject; /* index of an allocator, or REPLAY_ANY */
	/*
	 * index of the allocator in BOUND, whose value is multiplied by
	 * 'amount'; REPLAY_ANY: BOUND names none, and 'amount' is the bound
	 */
	unsigned other;
	enum replay_measure measure;
	double amount;
	char text[96]; /* as the user wrote it */
};

struct replay_limits {
	struct replay_limit terms[REPLAY_LIMITS_MAX];
	unsigned count;
};

/*
 * Parse an expression that names some of 'allocators', and append its terms.
 * On failure print a message and return false.
 */
bool limits_parse(struct replay_limits *limits, const char *text,
		  const struct allocators *allocators);

/*
 * For each term, print a message for each allocator that exceeds the bound.
 * Return true if there is such an allocator.  Store in '*unknown_ret' whether a
 * bound is a multiple of a time that is too short to measure; if so, print a
 * message about it.
 */
bool limits_exceeded(const struct replay_limits *limits,
		     const struct replay_runs *runs, bool *unknown_ret);

#endif /* REPLAY_LIMIT_H */
