/* SPDX-License-Identifier: MIT */
/*
 * narrate_time.h - stamps into the times of a trace
 *
 * narrate.h declares how the caller of a narrator sets its clock.
 */
#ifndef NARRATE_TIME_H
#define NARRATE_TIME_H

#include "hatf/rings/narrate.h"

/*
 * Return the time of a stamp, in ns since the start, never later than the
 * moment at which the stamp was taken.
 */
uint64_t narrate_ns_of(const struct narrator *n, uint64_t stamp);

/*
 * Return the time that a comment gives for a stamp: at least the time of the
 * last record.  Do not change n->time, because a comment about a later moment
 * must not make the times of the next records later.
 */
uint64_t narrate_time_at(const struct narrator *n, uint64_t stamp);

/*
 * Convert a stamp for narrate_time_of(), and fill the cache of conversions.
 * The trace must have times.
 */
uint64_t narrate_convert(struct narrator *n, uint64_t stamp);

/*
 * Set n->time to the time of a stamp, unless n->time is later; return n->time.
 */
static inline uint64_t
narrate_time_of(struct narrator *n, uint64_t stamp)
{
	if (stamp == n->time_stamp || n->unit_ns == 0)
		return n->time;
	n->time_stamp = stamp;
	if (stamp - n->same_from < n->same_count &&
	    n->timeline.stamp1 == n->same_line)
		return n->time;
	return narrate_convert(n, stamp);
}

#endif /* NARRATE_TIME_H */
