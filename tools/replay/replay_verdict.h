/* SPDX-License-Identifier: MIT */
/*
 * replay_verdict.h - find the best allocator, and those that equal it
 *
 * The best allocator has the least median.  Another one equals the best if the
 * ranges of their runs overlap, or if their medians differ by at most 1 %.
 *
 * An allocator has a rank if it has figures, and if no other allocator had
 * fewer failed calls.  With more failed calls, its rank would be too good,
 * because a call that fails takes little time and no memory.
 */
#ifndef REPLAY_VERDICT_H
#define REPLAY_VERDICT_H

#include "tools/replay/runs.h"

/* Does a column have a rank? */
bool verdict_is_ranked(const struct replay_runs *runs, unsigned idx);

/*
 * Print a message for each column that has figures, but no rank.  Return their
 * number.
 */
unsigned verdict_report_unranked(const struct replay_runs *runs);

/*
 * Return the index of the best column.  At least one column must have figures.
 */
unsigned verdict_best(const struct replay_runs *runs, enum replay_measure m);

/*
 * Are two figures equal: do the ranges of their runs overlap, or do their
 * medians differ by at most 1 %?
 */
bool verdict_equals(const struct replay_spread *a,
		    const struct replay_spread *b);

/* Does a column equal the best one?  A column without a rank does not. */
bool verdict_is_equal(const struct replay_runs *runs, enum replay_measure m,
		      unsigned best, unsigned idx);

/*
 * Return the median of a column divided by the median of the first column; NAN
 * if the median of the first column is 0.
 */
double verdict_ratio(const struct replay_runs *runs, enum replay_measure m,
		     unsigned idx);

/* Return (max - min) / (2 * median) of a column; 0 if the median is 0. */
double verdict_spread(const struct replay_spread *s);

#endif /* REPLAY_VERDICT_H */
