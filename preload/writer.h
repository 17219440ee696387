/* SPDX-License-Identifier: MIT */
/*
 * writer.h - the background thread: drain, order, encode, commit
 *
 * One thread per traced process takes the events out of all rings (order.h),
 * encodes them, and commits them block by block: compress, write, and only then
 * let the producers have the room back.
 *
 * It is made by clone(2) rather than by pthread_create(), so that for libc and
 * the program it does not exist: a process that had one thread keeps libc's
 * single-thread paths, and one whose last thread leaves ends.  It shares the
 * memory, but neither descriptors nor working directory nor umask.  In return it
 * may call nothing that needs libc's thread state (no malloc, stdio, locale,
 * pthread_*), takes no lock and never waits for a thread of the program.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "output.h"

/* How a trace ended; goes into its trailer. */
enum writer_end {
	WRITER_END_EXIT,
	WRITER_END_UNDERSCORE_EXIT,
	WRITER_END_QUICK_EXIT,
	WRITER_END_ABORT,
	WRITER_END_EXEC,
	WRITER_END_LAST_THREAD, /* it left without ending the process */
};

/* What a process must know to go on where its parent was; see lifecycle.c. */
struct writer_header {
	const char *text; /* lines of the header comment, after the first */
	size_t nbytes;
};

/*
 * Map the writer's memory and start the thread on 'output', which it takes over
 * (the caller's descriptor is closed here).  'header' is copied.  On failure
 * says so in one line and returns false.
 */
bool writer_start(const struct config *config, struct output *output,
		  const struct writer_header *header);

/* Any thread: there is something to do.  At most one system call. */
void writer_wake(void);

/*
 * A thread of the program: everything that has been published so far is to be in
 * the file, with a trailer that says 'end'.  Returns when it is, or when the
 * writer is no more.  The process may go on afterwards.
 */
void writer_finish(enum writer_end end);

/*
 * After writer_finish() the writer holds its breath for a second, so that what
 * other threads do while the process ends does not come after the trailer.  The
 * process goes on (an exec has failed): go on at once.
 */
void writer_resume(void);

/*
 * A thread of the program: after its EVENT_FORK with this ticket, wait until the
 * writer has come to it, at most 'timeout_ns'.  Returns whether it has;
 * '*event_ret' is then the number of logical events before it, else a number
 * that was right a moment ago.
 */
bool writer_await_fork(uint64_t ticket, uint64_t timeout_ns,
		       uint64_t *event_ret);

/* Events so far; what a raw copy of the process finds in its memory. */
uint64_t writer_event_count(void);

/* Where the trace is; stays valid as long as the process. */
const char *writer_path(void);

/* Nothing could be recorded for lack of memory; counted in the trailer. */
void writer_count_unattached(void);

#endif /* WRITER_H */
