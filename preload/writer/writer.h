/* SPDX-License-Identifier: MIT */
/*
 * writer.h - the background thread: drain, order, encode, commit
 *
 * One thread per traced process takes the events out of all rings (order.h),
 * encodes them, and commits them block by block: compress, write, and only then
 * let the producers have the room back.
 *
 * The thread is made when it is needed: when the initial thread's ring is
 * nearly full, when recording has gone on for some time, before a second thread
 * or a fork, or at the end of the process.  Until then events wait in the ring,
 * and there is no file.  With HATFTRACE_BEGIN=now the first event makes the
 * thread.
 *
 * When there have been no events for some time the thread leaves, and is made
 * again when it is needed again.  Meanwhile events wait in the rings, which are
 * in a file by then.
 *
 * It is made by clone(2) rather than by pthread_create(), so that for libc and
 * the program it does not exist: a process that had one thread keeps libc's
 * single-thread paths, and one whose last thread leaves ends.  It shares the
 * memory, but neither descriptors nor working directory nor umask.  In return
 * it may call nothing that needs libc's thread state (no malloc, stdio, locale,
 * pthread_*), takes no lock and never waits for a thread of the program.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "preload/confine/privileges.h"
#include "preload/trace/output.h"

/* How a trace ended; goes into its trailer. */
enum writer_end {
	WRITER_END_EXIT,
	WRITER_END_UNDERSCORE_EXIT,
	WRITER_END_QUICK_EXIT,
	WRITER_END_ABORT,
	WRITER_END_EXEC,
	WRITER_END_SANDBOX,	/* the recorder cannot work any more */
	WRITER_END_LAST_THREAD, /* it ended without ending the process */
	WRITER_END_KILLED,	/* the same, and a filter has ended it */
	WRITER_END_STOP,	/* recording was stopped; the process goes on */
};

/* A place in the trace. */
struct writer_place {
	uint64_t segment;
	uint64_t event; /* logical events in it before */
};

/* Bytes that writer_reserve() and writer_prepare() map. */
size_t writer_memory_nbytes(int level);

/*
 * Map the writer's memory for a trace that begins now or, if 'is_dormant', with
 * an order to start.  'is_child': the process is the child of a fork, and the
 * files of its parent are not its own.  False: no memory.
 */
bool writer_reserve(const struct config *config, bool is_child,
		    bool is_dormant);

/*
 * Set up the tables for that trace, with the names of 'output'.  No thread and
 * no file is made yet.  False: no memory.
 */
bool writer_prepare(const struct config *config, const struct output *output);
bool writer_is_prepared(void);

/*
 * A thread of the program: take the second step of begin.h now, unless another
 * thread does.  Keeps errno.
 */
void writer_get_ready(void);

/* After writer_reserve(): pass the writer's functions to wake.h. */
void writer_open_calls(void);

/*
 * The calling thread is about to do something after which the writer thread
 * could not be made, or could not open its files: make it now.  Keeps errno.
 */
void writer_make_early(void);

/*
 * The bell of a dormant process has rung (record.h): make the writer, and start
 * recording if the bell says so.  Return 'p'.  Keeps errno.
 */
void *writer_answer_bell(void *p);

/* Time 0 of the trace, on CLOCK_MONOTONIC. */
uint64_t writer_start_ns(void);

/*
 * The calling thread, the only one of the process, is about to make a call that
 * fails in a process of several threads: the writer writes all events so far to
 * the file, and ends.  Return when the thread is gone; false: it has to stay.
 * The writer is made again when it is needed.  With 'for_call' writer_return()
 * makes it, with the privileges that the caller has then; until then its files
 * are open in the program's table of descriptors.  All signals must be blocked.
 */
bool writer_depart(bool for_call);
void writer_return(void);

/*
 * A thread of the program, while nothing is recorded: the process is about to
 * end or to exec, so no trace may begin any more.  False: a trace has begun
 * meanwhile, or a ring file exists, and the caller must call writer_finish().
 */
bool writer_end_dormant(void);

enum writer_order {
	WRITER_ORDER_NONE = 0,
	WRITER_ORDER_START,
	WRITER_ORDER_STOP,
	WRITER_ORDER_FLUSH,
};

/*
 * A thread of the program: have the writer carry out 'order', as 'hatf ctl'
 * does.  Return when the order is done; false: it failed.
 */
bool writer_obey(enum writer_order order);

/*
 * A thread of the program: have the writer write everything published so far to
 * the file, and a trailer with 'end'.  Return when that is done, or when the
 * writer has ended.  The process may go on afterwards.
 */
void writer_finish(enum writer_end end);

/*
 * Like writer_finish(), but if no writer thread was needed so far, the calling
 * thread writes the whole trace itself.  All signals must be blocked.  False:
 * nothing is written, and the caller must call writer_finish().
 */
bool writer_finish_brief(enum writer_end end);

/*
 * A thread of the program, whose privileges have just become '*p': give the
 * writer the same privileges.  False: that failed, and the caller must end the
 * trace.
 */
bool writer_follow(const struct privileges *p);

/* After WRITER_END_SANDBOX: wait until the writer thread has ended. */
void writer_await_gone(void);

/*
 * After writer_finish() the writer pauses for up to a second, so that events of
 * other threads, while the process ends, do not follow the trailer.  This ends
 * the pause, since the process goes on (an exec has failed).  Return when the
 * rings are in use as before.  All signals must be blocked.
 */
void writer_resume(void);

/*
 * A thread of the program, after its EVENT_FORK with this ticket: wait, at most
 * 'timeout_ns', until the writer has encoded that event.  True: '*place_ret' is
 * its place in the trace.
 */
bool writer_await_fork(uint64_t ticket, uint64_t timeout_ns,
		       struct writer_place *place_ret);

/*
 * The approximate end of the trace; a raw copy of the process finds the same.
 */
struct writer_place writer_place(void);

/*
 * The file of a segment: the current one or the one before it.  For others,
 * return that of the current one.  In the child of a fork, the parent's file
 * until the child starts a writer.
 */
const char *writer_path(uint64_t segment);

#endif /* WRITER_H */
