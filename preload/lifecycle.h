/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.h - the process: its start, its forks, its ends
 *
 * Tracing starts with the first heap event of a process, whichever it is and
 * however early, and in the child of a fork with the child's first one.  That
 * a process is such a child is seen from memory that the kernel wipes on fork, so
 * no kind of fork is missed.
 */
#ifndef LIFECYCLE_H
#define LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "preload/record/thread.h"
#include "preload/writer/writer.h"

/* Are events of this process being recorded?  Cheap, starts nothing. */
bool lifecycle_is_tracing(void);

/*
 * Attach the calling thread, which is not; starts the process's trace if need be.
 * 'parent' and 'start' are for createThread (0, 0: not known).  NULL: nothing is
 * traced.  Keeps errno.
 */
struct thread *lifecycle_attach(uint64_t parent, uint64_t start);

/* Likewise for a signal handler that interrupted a recording of 't'. */
struct thread *lifecycle_attach_nested(struct thread *t);

/*
 * The process will have a second thread: start the trace if need be, and stamp
 * from now on.  Returns whether events are recorded.
 */
bool lifecycle_second_thread(void);

/*
 * A fork that runs no handlers of pthread_atfork(): to be called before it and, in
 * parent and child, after it.  Keep errno; may be called in a signal handler.
 */
void lifecycle_before_fork(void);
void lifecycle_after_fork(bool is_child);

/*
 * The process is about to end, or to exec: everything into the file.  Signals
 * that arrive meanwhile do not change how it ends (signals.h).  Does nothing in
 * a vfork child, which is still its parent.  Keeps errno.
 */
void lifecycle_end(enum writer_end end);

/*
 * The only thread of the process is about to leave it without ending it: where
 * there is no writer thread that would notice.  Keeps errno.
 */
void lifecycle_end_last_thread(void);

/* ... but it goes on. */
void lifecycle_resume(void);

/*
 * A change is about to happen, or has just happened, under which the recorder
 * cannot work or which the writer cannot follow: the trace ends here, and
 * nothing is recorded any more, nor in children.  'why' goes into the line on
 * standard error.
 */
void lifecycle_end_for_sandbox(const char *why);

/*
 * The calling thread is about to do something after which the writer thread
 * could not be made, or could not open its files: make it now.  Keeps errno.
 */
void lifecycle_have_writer(void);

/*
 * The calling thread is about to make a child that shares the memory, records
 * into the same ring, and cannot make the writer thread.  Make the writer now,
 * unless the ring has room for the events of such a child and the child's own
 * trace, after its exec, gets another name.  Keeps errno.
 */
void lifecycle_before_vfork(void);

/*
 * Is the calling thread one of the traced process, and not of a child by
 * vfork(2) or its like, which shares the memory?
 */
bool lifecycle_is_own(void);

/*
 * The bell has rung for this process, which is dormant (control.h): have the
 * writer, and record with 'start'.
 */
void lifecycle_answer(bool start);

/* Has this process one thread, beside the writer?  When in doubt, no. */
bool lifecycle_is_single(void);

/* ... or only the traces of children would. */
void lifecycle_end_with_children(void);

/*
 * The same may be said of taking orders: children take none, and with 'now' this
 * process does not either from here on.
 */
void lifecycle_end_control(bool now);

/* What does a filter mean that the calling thread is about to get? */
enum lifecycle_scope {
	LIFECYCLE_UNTRACED, /* nothing */
	LIFECYCLE_TRACED,   /* the trace goes on under it */
	LIFECYCLE_NEW	    /* a child's trace has to start under it */
};
enum lifecycle_scope lifecycle_scope(void);

/* The writer: the trace is over, the process goes on without. */
void lifecycle_set_off(void);

/*
 * The writer, before the process becomes dormant by it: the trace could not be
 * written on, or, with false, there is another.  Children then begin their own.
 */
void lifecycle_note_failure(bool failed);

/* Of the traced process; constant while it is traced. */
const struct config *lifecycle_config(void);

#endif /* LIFECYCLE_H */
