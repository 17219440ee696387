/* SPDX-License-Identifier: MIT */
/*
 * line.h - the time line: stamps into nanoseconds since the start
 *
 * By interpolation between the last two readings of both clocks.  It belongs to
 * whoever turns events into records.
 */
#ifndef LINE_H
#define LINE_H

#include <stdint.h>

/*
 * Every stamp converted should be no later than the last reading; an older one
 * than the reading before that is extended backwards along the same line.
 */
struct line {
	uint64_t stamp0, stamp1; /* the two readings */
	uint64_t ns0, ns1;
	uint64_t start_ns;
	double slope; /* ns per count */
};

void line_init(struct line *line, uint64_t stamp, uint64_t now_ns);

/* Another reading; one that is not later than the last changes nothing. */
void line_add(struct line *line, uint64_t stamp, uint64_t now_ns);

uint64_t line_ns(const struct line *line, uint64_t stamp);

#endif /* LINE_H */
