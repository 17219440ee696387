/* SPDX-License-Identifier: MIT */
/*
 * live_trace.h - the census of a trace that is still being written
 *
 * A thread reads the trace through a follower (follower.h) and counts its
 * events.  Other threads may read the census between live_trace_lock() and
 * live_trace_unlock().  Keep that time short, because the reading thread waits
 * meanwhile.
 */
#ifndef LIVE_TRACE_H
#define LIVE_TRACE_H

#include "tools/live/follower.h"
#include "tools/summary/census.h"

#include <stdbool.h>

struct live_trace;

/* How reading has ended; LIVE_GOES_ON: it has not. */
enum live_end {
	LIVE_GOES_ON,
	LIVE_COMPLETE, /* the trace has its trailer */
	/*
	 * the file ended without a trailer: the process ended abruptly, or
	 * reading stopped while the process still wrote
	 */
	LIVE_CUT,
	LIVE_DAMAGED, /* reading has failed; live_trace_fault() says why */
};

/* A program or library that is mapped into the process's memory. */
struct live_object {
	char *path, *build_id;
};

/*
 * Begin to read a file; the trace takes ownership of its descriptor.  On
 * failure print a message and return NULL.
 */
struct live_trace *live_trace_open(const struct followed_file *file);
void live_trace_close(struct live_trace *t);

/*
 * Wait until the trace has ended, 'event_count' events are counted, or
 * 'timeout_ms' milliseconds have passed.  Return false after the timeout.
 */
bool live_trace_wait(struct live_trace *t, uint64_t event_count,
		     unsigned timeout_ms);

/*
 * Live blocks at the current end of a file, and the peak of live bytes up to
 * there.
 */
struct live_figures {
	struct amount live;
	uint64_t peak_nbytes;
};

/*
 * Read a file up to its current end, and close the descriptor.  On failure
 * print a message and return false.
 */
bool live_trace_measure(const char *path, int fd, struct live_figures *ret);

/*
 * Lock and return the census, which does not change until live_trace_unlock().
 */
const struct census *live_trace_lock(struct live_trace *t);
void live_trace_unlock(struct live_trace *t);

/* Call these functions only while the census is locked: */

enum live_end live_trace_end(const struct live_trace *t);
/* Return why reading has failed, if it has ended with LIVE_DAMAGED, else "". */
const char *live_trace_fault(const struct live_trace *t);
/* Return how the trace ended according to its trailer; "" without a trailer. */
const char *live_trace_end_word(const struct live_trace *t);
/* Return the value of the header line 'key'; NULL if there is no such line. */
const char *live_trace_header(const struct live_trace *t, const char *key);
/* Return the number of lost events that the trace states. */
uint64_t live_trace_lost(const struct live_trace *t);
/* Return the build id of an object, "" if it is unknown. */
const char *live_trace_build_id(const struct live_trace *t, const char *path);
/* Return the fraction of the file that has been read, 0 to 1. */
double live_trace_progress(const struct live_trace *t);

#endif /* LIVE_TRACE_H */
