/* SPDX-License-Identifier: MIT */
/*
 * trends.h - the live bytes of each group over the course of a trace
 *
 * The trace, or the part of it that --from and --to select, is divided into
 * TREND_COUNT equal parts of its time, or of its events if it has no times.  A
 * trend is the live bytes of a group at the end of each part.
 *
 * The live bytes at the end of the last part are exact.  For any other part,
 * the history (history.h) has live bytes only for the ends of its points, so
 * use the end of a point that is nearest to the end of the part.  The distance
 * between the two ends is:
 *
 *   - 0 in a short trace, whose points are one time unit or event wide;
 *   - otherwise, with fine points (FINE_POINTS_MAX), at most 1/1024 of the
 *     trace;
 *   - at most 1/16 of the trace if the live bytes of so many stacks change that
 *     only POINTS_MIN points are left.
 */
#ifndef TRENDS_H
#define TRENDS_H

#include "tools/summary/groups.h"

#define TREND_COUNT 10

struct trend {
	uint64_t nbytes[TREND_COUNT];
	/*
	 * The live bytes grow.  In the parts after part 'since':
	 * - they never fell from one part to the next,
	 * - they rose in at least half of the parts, and in at least three,
	 * - they rose in at least one of the last three parts.
	 */
	bool grows;
	unsigned since; /* index of the last part before the first rise */
};

/*
 * Return the trends of all groups of stacks, by row; the caller frees the
 * array.  Return NULL if there is no memory.
 */
struct trend *trends_find(const struct groups *g);

/* Return the end of part 'i' as a distance from the start of the axis. */
uint64_t trends_moment(const struct census *c, unsigned i);

#endif /* TRENDS_H */
