/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - convert time stamps into nanoseconds since the start
 *
 * A timeline is a straight line through two readings of both clocks, the stamp
 * counter and the nanosecond clock.  The later one is called the last reading.
 * A reading takes the nanoseconds first, and the stamp just afterwards.  So at
 * each reading, and between the two readings, the line gives a stamp its true
 * time or a slightly earlier time.  A converted time is therefore never later
 * than the moment at which its stamp was taken.
 *
 * A short timeline keeps this promise even while the kernel corrects the rate
 * of its clock, but covers only the newest stamps.  A long timeline also covers
 * older stamps.  A stamp before the first point of a timeline can get a time
 * that is too late, because the two readings have different errors.  So a
 * narrator has three timelines: a short one, a long one, and, for stamps before
 * the first point of the long one, the long one that preceded it.
 *
 * No function here allocates, locks or makes a system call.  A timeline has one
 * owner, who serializes all calls.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdint.h>

struct timeline {
	uint64_t stamp0, stamp1; /* stamps of the two points */
	/* times of the two points, in ns of the nanosecond clock */
	uint64_t ns0, ns1;
	uint64_t start_ns; /* time 0, in ns of the nanosecond clock */
	/* nanoseconds per count of the stamp counter */
	double slope;
};

/* Start at time 0 with one reading: 'now_ns' was read just before 'stamp'. */
void timeline_init(struct timeline *line, uint64_t stamp, uint64_t now_ns);

/*
 * Add a reading: it becomes the later point of the line.  If the line was
 * 2 * 'base_ns' long or longer, first move its older point along the line to
 * 'base_ns' before the previous reading.  So if 'base_ns' is 0, the older point
 * is always the previous reading.  Ignore a reading that is not later than the
 * last one.
 */
void timeline_add(struct timeline *line, uint64_t stamp, uint64_t now_ns,
		  uint64_t base_ns);

/*
 * Return the nanoseconds from time 0 to 'stamp', rounded down; 0 for a stamp
 * before time 0.  A stamp after the last reading gets the time of that reading.
 */
uint64_t timeline_ns(const struct timeline *line, uint64_t stamp);

#endif /* TIMELINE_H */
