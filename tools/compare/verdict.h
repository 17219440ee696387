/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - is a difference a change, or is it noise?
 *
 * Two runs of one program differ: by hash seeds, threads and time.  With
 * several runs a side, the spread of a side is its largest value less its
 * smallest one.  A difference of the medians is a change if it
 *
 *   - exceeds the floor, a share of the old median, and a share of what the
 *     whole program has of the measure,
 *   - exceeds 'spread_factor' times the larger of the two spreads, or twice as
 *     much if one side has a single run, and
 *   - if a side has several runs, if all new values lie on the same side of all
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
	double floor;	    /* share of the old median, 0.01: 1 % */
	double total_floor; /* share of the whole program */
	double spread_factor;
};

/* The values of a side: those of its runs.  'count' is not 0. */
struct verdict_side {
	uint64_t min, median, max;
	size_t count;
};

/* Sum up values; reorders them. */
struct verdict_side verdict_side_make(uint64_t *values, size_t count);

/*
 * Judge one measure of one row.  'total' is what the whole program has, the
 * larger of both sides.
 */
enum verdict verdict_judge(const struct verdict_side *old_side,
			   const struct verdict_side *new_side, uint64_t total,
			   const struct verdict_options *options);

#endif /* VERDICT_H */
