/* SPDX-License-Identifier: MIT */
/*
 * replay_verdict.h - which allocator is best, and which ones equal it
 *
 * The best one has the least median.  Another one equals it if the ranges of
 * their runs overlap, or if the medians differ by 1 % at most.
 */
#ifndef REPLAY_VERDICT_H
#define REPLAY_VERDICT_H

#include "tools/replay/runs.h"

/* Return the index of the best column. */
unsigned verdict_best(const struct replay_runs *runs, enum replay_measure m);

/* Does a column equal the best one? */
bool verdict_is_equal(const struct replay_runs *runs, enum replay_measure m,
		      unsigned best, unsigned idx);

/* The median of a column, divided by that of the first one; NAN if that is 0 */
double verdict_ratio(const struct replay_runs *runs, enum replay_measure m,
		     unsigned idx);

/* (max - min) / (2 * median) of a column; 0 if the median is 0. */
double verdict_spread(const struct replay_spread *s);

#endif /* REPLAY_VERDICT_H */
