/* SPDX-License-Identifier: MIT */
/*
 * replay_limit.h - the limits of 'hatf replay --fail-if'
 *
 *	EXPR   = TERM { "," TERM }		  one of them holds
 *	TERM   = [NAME "."] MEASURE ">" BOUND	  an allocator exceeds it
 *	BOUND  = NUMBER "*" NAME		  a multiple of another one's
 *	       | NUMBER [UNIT]			  an amount
 *	UNIT   = "K" | "M" | "G" | "ns" | "us" | "ms" | "s"
 *
 * NAME is an allocator as the user wrote it, MEASURE one of
 * replay_measure_words.  Without NAME, any allocator but the other one of BOUND
 * is meant.  An allocator exceeds a bound if all its runs do; the bound of
 * another one is its median.
 */
#ifndef REPLAY_LIMIT_H
#define REPLAY_LIMIT_H

#include "tools/replay/runs.h"

#define REPLAY_LIMITS_MAX 32

/* Of any allocator. */
#define REPLAY_ANY ALLOCATORS_MAX

struct replay_limit {
	unsigned subject; /* index of an allocator, or REPLAY_ANY */
	unsigned other;	  /* the same; REPLAY_ANY: 'amount' is not a factor */
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

/* Print a message for each term that holds.  Return whether one does. */
bool limits_exceeded(const struct replay_limits *limits,
		     const struct replay_runs *runs);

#endif /* REPLAY_LIMIT_H */
