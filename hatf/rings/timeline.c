/* SPDX-License-Identifier: MIT */
/* timeline.c - see timeline.h */

#include "hatf/rings/timeline.h"

void
timeline_init(struct timeline *line, uint64_t stamp, uint64_t now_ns)
{
	*line = (struct timeline){
		.stamp0 = stamp,
		.stamp1 = stamp,
		.ns0 = now_ns,
		.ns1 = now_ns,
		.start_ns = now_ns,
		.slope = 1.0,
	};
}

/*
 * Move the older point along the line to the time 'base_ns' before the later
 * point.
 */
static void
shorten(struct timeline *line, uint64_t base_ns)
{
	const double counts = (double)base_ns / line->slope;

	/*
	 * The slope may come from a damaged file, so 'counts' may be NaN.  The
	 * condition is written so that shorten() returns for NaN, too.
	 */
	if (!(counts < (double)(line->stamp1 - line->stamp0)))
		return;
	line->stamp0 = line->stamp1 - (uint64_t)counts;
	line->ns0 = line->ns1 - base_ns;
}

void
timeline_add(struct timeline *line, uint64_t stamp, uint64_t now_ns,
	     uint64_t base_ns)
{
	if (stamp <= line->stamp1 || now_ns <= line->ns1)
		return;
	/*
	 * Do not move the older point at each reading, since each move rounds
	 * the stamp of the point.
	 */
	if (line->ns1 - line->ns0 >= 2 * base_ns)
		shorten(line, base_ns);
	line->stamp1 = stamp;
	line->ns1 = now_ns;
	line->slope =
		(double)(now_ns - line->ns0) / (double)(stamp - line->stamp0);
}

uint64_t
timeline_ns(const struct timeline *line, uint64_t stamp)
{
	/*
	 * Count back from the last reading, because most stamps are close to
	 * it.
	 */
	const double back =
		stamp >= line->stamp1
			? 0.0
			: (double)(line->stamp1 - stamp) * line->slope;
	const uint64_t elapsed = line->ns1 - line->start_ns;
	uint64_t whole;

	if (back >= (double)elapsed)
		return 0;
	whole = (uint64_t)back;
	/* Round down, because a time must not be later than its stamp. */
	return elapsed - whole - ((double)whole < back);
}
