/* SPDX-License-Identifier: MIT */
/* narrate_time.c - see narrate_time.h */

#include "hatf/rings/narrate_time.h"

/* Once 'far_timeline' is this long, in ns, it stays at least this long. */
#define FAR_NS 100000000ull

void
narrate_start_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns)
{
	struct timeline line;

	timeline_init(&line, stamp, now_ns);
	narrate_use_timeline(n, &line);
}

void
narrate_use_timeline(struct narrator *n, const struct timeline *line)
{
	n->timeline = n->far_timeline = n->older_timeline = *line;
}

void
narrate_read_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns)
{
	const struct timeline far = n->far_timeline;

	timeline_add(&n->timeline, stamp, now_ns, 0);
	timeline_add(&n->far_timeline, stamp, now_ns, FAR_NS);
	if (n->far_timeline.stamp0 != far.stamp0)
		n->older_timeline = far;
}

/*
 * Return the time of a stamp, in ns since the start.  A stamp can be older than
 * the last two readings of the clocks, if an open realloc delayed the event, if
 * the thread of the event did not run for a while, or if the process had no
 * writer yet.  Convert such a stamp by 'far_timeline', but return at most the
 * time of the older of the last two readings.
 *
 * A stamp before the first point of a timeline can get a time that is too late
 * (timeline.h).  So convert stamps before the first point of 'far_timeline' by
 * 'older_timeline'.
 */
uint64_t
narrate_ns_of(const struct narrator *n, uint64_t stamp)
{
	uint64_t ns, latest;

	if (stamp >= n->timeline.stamp0)
		return timeline_ns(&n->timeline, stamp);
	ns = timeline_ns(stamp >= n->far_timeline.stamp0 ? &n->far_timeline
							 : &n->older_timeline,
			 stamp);
	latest = n->timeline.ns0 - n->timeline.start_ns;
	return ns < latest ? ns : latest;
}

/*
 * Convert a time in ns since the start into the trace's unit, rounded down to
 * the grain.  The trace must have times.
 */
static uint64_t
in_units(const struct narrator *n, uint64_t ns)
{
	const uint64_t time = n->unit_ns != 1 ? ns / 1000 : ns;

	/*
	 * Rounding the times to the grain loses no order, because the stamps,
	 * not the times, determine the order of the events.
	 */
	return n->grain != 1 ? time - time % n->grain : time;
}

uint64_t
narrate_time_at(const struct narrator *n, uint64_t stamp)
{
	const uint64_t time =
		n->unit_ns != 0 ? in_units(n, narrate_ns_of(n, stamp)) : 0;

	return time > n->time ? time : n->time;
}

/*
 * Consecutive stamps can have the same time in the trace.  The caller has
 * converted a stamp to 'ns', and 'ns' to 'time'.  Return how many consecutive
 * stamps, beginning with this stamp, are certain to have the same time in the
 * trace.
 */
static uint64_t
count_same(const struct narrator *n, uint64_t ns, uint64_t time)
{
	const uint64_t unit_ns = n->unit_ns * n->grain;
	uint64_t left_ns;
	double count;

	if (unit_ns == 1 || n->timeline.slope <= 0)
		return 0;
	left_ns = unit_ns - 1 - (ns - time * n->unit_ns);
	if (left_ns < 2)
		return 0;
	/* Subtract 1 because 'ns' was rounded down. */
	count = (double)(left_ns - 1) / n->timeline.slope;
	/* Limit the count, since a ring file may contain any slope. */
	return count < 0x1p63 ? (uint64_t)count : 1ull << 63;
}

uint64_t
narrate_convert(struct narrator *n, uint64_t stamp)
{
	const uint64_t ns = narrate_ns_of(n, stamp);
	const uint64_t time = in_units(n, ns);

	n->same_from = stamp;
	n->same_line = n->timeline.stamp1;
	n->same_count = count_same(n, ns, time);
	if (time > n->time)
		n->time = time;
	return n->time;
}
