/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - the time line: stamps into nanoseconds since the start
 *
 * A straight line through two points, of which the later one is the last
 * reading of both clocks.  In a reading the nanoseconds are read first, so a
 * point lies on the true line or a little below it, and so does each point
 * between the two: no time is later than the moment at which its stamp was
 * taken.
 *
 * Of a short line that is so even when the kernel corrects the rate of its
 * clock.  A long one has the better slope, since the errors of its two readings
 * weigh less, and can be followed beyond its older point.  So a narrator has
 * one of each.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdint.h>

/*
 * Every stamp converted should be no later than the last reading; a later one
 * gets that reading's time.
 */
struct timeline {
	uint64_t stamp0, stamp1; /* the two points */
	uint64_t ns0, ns1;
	uint64_t start_ns;
	double slope; /* ns per count */
};

/* Time 0 is at 'now_ns', which was read before 'stamp'. */
void timeline_init(struct timeline *line, uint64_t stamp, uint64_t now_ns);

/*
 * Another reading; one that is not later than the last changes nothing.  The
 * older point is then 'base_ns' to twice that before the reading before this
 * one, if the line has become so long.
 */
void timeline_add(struct timeline *line, uint64_t stamp, uint64_t now_ns,
		  uint64_t base_ns);

uint64_t timeline_ns(const struct timeline *line, uint64_t stamp);

#endif /* TIMELINE_H */
