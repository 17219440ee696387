/* SPDX-License-Identifier: MIT */
/* line.c - see line.h */

#include "line.h"

void
line_init(struct line *line, uint64_t stamp, uint64_t now_ns)
{
	*line = (struct line){
		.stamp0 = stamp,
		.stamp1 = stamp,
		.ns0 = now_ns,
		.ns1 = now_ns,
		.start_ns = now_ns,
		.slope = 1.0,
	};
}

void
line_add(struct line *line, uint64_t stamp, uint64_t now_ns)
{
	if (stamp <= line->stamp1 || now_ns <= line->ns1)
		return;
	line->stamp0 = line->stamp1;
	line->ns0 = line->ns1;
	line->stamp1 = stamp;
	line->ns1 = now_ns;
	line->slope =
		(double)(now_ns - line->ns0) / (double)(stamp - line->stamp0);
}

uint64_t
line_ns(const struct line *line, uint64_t stamp)
{
	/* From the later reading backwards: most stamps are close to it. */
	const double back =
		stamp >= line->stamp1
			? 0.0
			: (double)(line->stamp1 - stamp) * line->slope;
	const uint64_t elapsed = line->ns1 - line->start_ns;

	return back >= (double)elapsed ? 0 : elapsed - (uint64_t)back;
}
