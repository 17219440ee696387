/* SPDX-License-Identifier: MIT */
/*
 * live_trace.h - the census of a trace that is still being written
 *
 * A thread reads the trace through a follower and counts.  Others look at the
 * census between live_trace_lock() and live_trace_unlock(), for short times:
 * the thread waits.
 */
#ifndef LIVE_TRACE_H
#define LIVE_TRACE_H

#include "tools/live/follower.h"
#include "tools/summary/census.h"

#include <stdbool.h>

struct live_trace;

/* How reading has ended. */
enum live_end {
	LIVE_GOES_ON,
	LIVE_COMPLETE, /* the trace has its trailer */
	LIVE_CUT,      /* the process ended without a trailer, or we stopped */
	LIVE_DAMAGED,  /* see live_trace_fault() */
};

/* A piece of a program or library in the process's memory. */
struct live_object {
	char *path, *build_id;
};

/*
 * Read a file, whose descriptor is the trace's from now on.  On failure print a
 * message and return NULL.
 */
struct live_trace *live_trace_open(const struct followed_file *file);
void live_trace_close(struct live_trace *t);

/*
 * Wait until the trace has ended, 'event_count' events are counted, or
 * 'timeout_ms' have passed.  Return false after the timeout.
 */
bool live_trace_wait(struct live_trace *t, uint64_t event_count,
		     unsigned timeout_ms);

/* What lives at the end of what a file has, and the most that did. */
struct live_figures {
	struct amount live;
	uint64_t peak_nbytes;
};

/*
 * Read a file as far as it has been written; the descriptor is closed.  On
 * failure print a message and return false.
 */
bool live_trace_measure(const char *path, int fd, struct live_figures *ret);

/* The census, valid and unchanged until live_trace_unlock(). */
const struct census *live_trace_lock(struct live_trace *t);
void live_trace_unlock(struct live_trace *t);

/* While the census is locked: */

enum live_end live_trace_end(const struct live_trace *t);
/* Why the trace cannot be read further, if it is damaged. */
const char *live_trace_fault(const struct live_trace *t);
/* How the trailer says that the trace ended; "" without a trailer. */
const char *live_trace_end_word(const struct live_trace *t);
/* A line of the header; NULL if there is none. */
const char *live_trace_header(const struct live_trace *t, const char *key);
/* Events that the trace says are lost. */
uint64_t live_trace_lost(const struct live_trace *t);
/* The build id of an object, "" if it is not known. */
const char *live_trace_build_id(const struct live_trace *t, const char *path);
/* The part of the file that has been read, 0 to 1. */
double live_trace_progress(const struct live_trace *t);

#endif /* LIVE_TRACE_H */
