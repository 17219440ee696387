/* SPDX-License-Identifier: MIT */
/*
 * replay_verdict.h - find the best allocator, and those that equal it
 *
 * The best allocator has the lowest median.  Another one equals the best if the
 * ranges of their runs overlap, or if their medians differ by at most 1 %.
 *
 * An allocator has a rank if it has figures, and if no other allocator had
 * fewer failed calls.  With more failed calls, its rank would be too good,
 * because a call that fails takes little time and no memory.
 */
#ifndef REPLAY_VERDICT_H
#define REPLAY_VERDICT_H

#include "tools/replay/runs.h"

/* Does the allocator of column 'idx' have a rank? */
bool verdict_is_ranked(const struct replay_runs *runs, unsigned idx);

/*
 * Print a message for each allocator that has figures, but no rank.  Return the
 * number of these allocators.
 */
unsigned verdict_report_unranked(const struct replay_runs *runs);

/*
 * Return the column of the best allocator.  At least one allocator must have
 * figures.
 */
unsigned verdict_best(const struct replay_runs *runs, enum replay_measure m);

/*
 * Are two figures equal: do the ranges of their runs overlap, do their medians
 * differ by at most 1 %, or are both times too short to measure?
 */
bool verdict_equals(const struct replay_spread *a,
		    const struct replay_spread *b);

/*
 * Does the allocator of column 'idx' equal the one of column 'best'?  An
 * allocator without a rank does not.
 */
bool verdict_is_equal(const struct replay_runs *runs, enum replay_measure m,
		      unsigned best, unsigned idx);

/*
 * Return the median of a column divided by the median of the first column; NAN
 * if the median of the first column is 0, or if one of the two is a time that
 * is too short to measure.
 */
double verdict_ratio(const struct replay_runs *runs, enum replay_measure m,
		     unsigned idx);

/*
 * Return the peak RSS of a column divided by the largest number of live bytes
 * of the trace.  Return NAN if the trace has no live bytes, if a call failed,
 * or if the replay does not write to each page of each block: the live blocks
 * would then not be resident.
 */
double verdict_live_ratio(const struct replay_runs *runs, unsigned idx);

/* Return (max - min) / (2 * median), or 0 if the median is 0. */
double verdict_spread(const struct replay_spread *s);

#endif /* REPLAY_VERDICT_H */
