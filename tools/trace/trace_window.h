/* SPDX-License-Identifier: MIT */
/*
 * trace_window.h - a part of a trace, as --from and --to select it
 *
 * A bound is a number of calls, or a time since the first event.  The first
 * call that reaches 'from' is in the window, the first one that reaches 'to' is
 * not.
 */
#ifndef TRACE_WINDOW_H
#define TRACE_WINDOW_H

#include "tools/trace/scan.h"

struct trace_bound {
	bool is_set;
	bool is_time;
	uint64_t at; /* calls; or ns, and after settling time units */
};

struct trace_window {
	struct trace_bound from, to;
};

/*
 * Take the value of --from or, unless 'is_from', of --to: a number of events
 * ("1000"), or a time since the first event ("1.5s", "20ms", "7us", "100ns",
 * "2min").  On failure print a message and return false.
 */
bool trace_window_take(struct trace_window *window, bool is_from,
		       const char *value);

/*
 * Settle: turn nanoseconds into the time units of the trace.  If it has none,
 * print a message and return false.
 */
bool trace_window_settle(struct trace_window *window, const struct scan *s);

/* Does a call count?  A carried record is no call; the free of its block is. */
static inline bool
trace_window_counts(const struct hatf_event *e)
{
	return e->kind <= HATF_EVENT_REALLOC &&
	       !(e->kind == HATF_EVENT_ALLOC && e->carried);
}

/*
 * Does a call at 'time' reach a bound that is set, after 'count' other calls,
 * in a trace that begins at 'start'?
 */
static inline bool
trace_bound_reached(const struct trace_bound *bound, uint64_t count,
		    uint64_t start, uint64_t time)
{
	if (!bound->is_time)
		return count >= bound->at;
	return time >= start && time - start >= bound->at;
}

#endif /* TRACE_WINDOW_H */
