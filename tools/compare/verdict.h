/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - decide whether a difference is a change or noise
 *
 * Two runs of one program differ because of hash seeds, threads and time.  The
 * spread of a side is the difference between the largest and the smallest value
 * of its runs.  A difference of the medians is a change if
 *
 *   - it exceeds both 'floor' times the old median and 'total_floor' times the
 *     value of the whole program,
 *   - it exceeds 'spread_factor' times the larger of the two spreads, or twice
 *     as much if a side has only a single run, and
 *   - all new values are above all old values, or all new values are below all
 *     old values.
 *
 * Pure functions; any thread may call them.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <stddef.h>
#include <stdint.h>

enum verdict {
	VERDICT_SAME, /* no difference, or noise */
	VERDICT_GREW,
	VERDICT_SHRANK,
};

struct verdict_options {
	/*
	 * The factors in the list above.  For example, if 'floor' is 0.01, a
	 * difference of at most 1 % of the old median is noise.
	 */
	double floor;
	double total_floor;
	double spread_factor;
};

/* Summary of the values of the runs of one side.  'count' is not 0. */
struct verdict_side {
	uint64_t min, median, max;
	size_t count;
};

/* Summarize 'values', and reorder them. */
struct verdict_side verdict_side_make(uint64_t *values, size_t count);

/*
 * Judge one measure of one row.  'total' is the largest value of the whole
 * program in any run.
 */
enum verdict verdict_judge(const struct verdict_side *old_side,
			   const struct verdict_side *new_side, uint64_t total,
			   const struct verdict_options *options);

#endif /* VERDICT_H */
