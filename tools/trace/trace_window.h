/* SPDX-License-Identifier: MIT */
/*
 * trace_window.h - a part of a trace, as --from and --to select it
 *
 * A bound is a number of calls, or a time since the first event.  The window
 * begins with the first call that reaches 'from', and ends before the first
 * call that reaches 'to'.
 */
#ifndef TRACE_WINDOW_H
#define TRACE_WINDOW_H

#include "tools/trace/scan.h"

struct trace_bound {
	bool is_set;
	bool is_time;
	/*
	 * a number of calls, or a time: in ns before trace_window_settle(),
	 * then in time units
	 */
	uint64_t at;
};

struct trace_window {
	struct trace_bound from, to;
};

/*
 * Parse the value of --from or, if 'is_from' is false, of --to: a number of
 * calls ("1000"), or a time since the first event ("1.5s", "20ms", "7us",
 * "100ns", "2min").  On failure print a message and return false.
 */
bool trace_window_take(struct trace_window *window, bool is_from,
		       const char *value);

/*
 * Is 'to' equal to 'from', or before it?  Return false if a bound is not set,
 * or if one bound is a time and the other a number of calls.  Call this
 * function before trace_window_settle().
 */
bool trace_window_is_empty(const struct trace_window *window);

/*
 * Convert bounds in nanoseconds into the time units of the trace.  If a bound
 * is a time, but the trace states no unit of time, print a message and return
 * false.
 */
bool trace_window_settle(struct trace_window *window, const struct scan *s);

/*
 * Is the event a call that windows count?  The record of a carried block is not
 * a call; the free of such a block is.
 */
static inline bool
trace_window_counts(const struct hatf_event *e)
{
	return e->kind <= HATF_EVENT_REALLOC &&
	       !(e->kind == HATF_EVENT_ALLOC && e->carried);
}

/*
 * Does a call reach 'bound', which must be set?  The call is at 'time', after
 * 'count' other calls.  The first event of the trace is at 'start'.
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
