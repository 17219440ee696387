/* SPDX-License-Identifier: MIT */
/*
 * writer.h - the writer thread: drain, order, encode, commit
 *
 * One thread per traced process takes the events out of all rings (order.h),
 * encodes them, and commits them block by block: compress a block, write it,
 * and only then release the room of its events in the rings.
 *
 * A thread of the program makes the writer thread when this is necessary:
 *
 *   - when the initial thread's ring is nearly full
 *   - after some time of recording
 *   - before the program makes a second thread, or forks
 *   - before the program changes its privileges, limits or mounts
 *   - at the end of the process, if the thread that ends the process cannot do
 *     the writer's work itself (writer_finish_brief())
 *
 * Until then events wait in the ring, and there is no file.  With
 * HATFTRACE_BEGIN=now the first event makes the thread.
 *
 * After some time without events the writer thread leaves.  A thread of the
 * program makes another writer thread when one is needed.  Meanwhile events
 * wait in the rings, which are then in the ring file.
 *
 * The thread is made by clone(2) rather than by pthread_create(), so that libc
 * and the program do not know the writer thread.  Therefore a process with one
 * thread keeps libc's single-thread paths, and a process ends when the last
 * thread of the program ends.  The writer shares the program's memory, but has
 * its own descriptors, working directory and umask.  It must not call anything
 * that needs libc's thread state (no malloc, stdio, locale, pthread_*).  It
 * takes no lock and never waits for a thread of the program.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "preload/confine/privileges.h"
#include "preload/trace/output.h"

/* How a trace ended.  The trailer contains this. */
enum writer_end {
	WRITER_END_EXIT,
	WRITER_END_UNDERSCORE_EXIT,
	WRITER_END_QUICK_EXIT,
	WRITER_END_ABORT,
	/* abort(); the program handles SIGABRT and may therefore continue */
	WRITER_END_ABORT_HANDLED,
	WRITER_END_EXEC,
	/* the recorder cannot run under a new restriction */
	WRITER_END_SANDBOX,
	WRITER_END_LAST_THREAD, /* the last thread ended, not by exit() */
	WRITER_END_KILLED,	/* a seccomp filter killed the last thread */
	/* recording was stopped; the process continues */
	WRITER_END_STOP,
};

/* A position in the trace. */
struct writer_place {
	uint64_t segment;
	/* Number of logical events in the segment before this position. */
	uint64_t event;
};

/*
 * Return how many bytes writer_reserve() and writer_prepare() map, without the
 * tables of call stacks and of live blocks.
 */
size_t writer_memory_nbytes(const struct config *config);

/*
 * Map the writer's memory for a trace.  The trace begins now or, if
 * 'is_dormant' is set, with an order to start.  'is_child' means that the
 * process is the child of a fork.  In this case, publish that the process has
 * no trace file of its own yet (writer_note_file()).  Return false if there is
 * no memory.
 */
bool writer_reserve(const struct config *config, bool is_child,
		    bool is_dormant);

/*
 * Prepare the tables for the trace, whose files are named by 'output'.  This
 * makes neither a thread nor a file.  Return false if there is no memory.
 */
bool writer_prepare(const struct config *config, const struct output *output);

/* Has writer_prepare() run in this process? */
bool writer_is_prepared(void);

/*
 * A thread of the program calls this.  Take the second step of begin.h now,
 * unless it has been taken or another thread is taking it.  Keeps errno.
 */
void writer_get_ready(void);

/*
 * Store pointers to the writer's functions for wake.c, which calls the writer
 * through them.  Call this after writer_reserve().
 */
void writer_open_calls(void);

/*
 * Make the writer thread.  Call this before a change after which the writer
 * thread could not be made, or could not open its files.  In a dormant process,
 * only call writer_get_ready().  Keeps errno.
 */
void writer_make_early(void);

/*
 * Call this when the slot of this process has changed (own_slot.h) and there is
 * no writer thread.  If the slot has an order for this process, make the
 * writer, and start recording if it is an order to start.  Return 'p', which
 * the function does not use otherwise.  Keeps errno.
 */
void *writer_answer_bell(void *p);

/* Return time 0 of the trace, on CLOCK_MONOTONIC. */
uint64_t writer_start_ns(void);

/*
 * Make the writer write all events so far to the file, and end.  Return true
 * when the writer thread is gone, or false if the writer must stay.  A later
 * event makes a new writer.  The calling thread must be the only thread of the
 * program.  All signals must be blocked.
 *
 * 'for_call' must be true if the program is about to make a call for which
 * there must be no writer thread: a call that fails in a process of several
 * threads, or a call after which the writer would be in a different namespace
 * from the program.  'for_call' must be false if the program is only about to
 * count its threads.
 *
 * If 'for_call' is set and the result is true, the caller must call
 * writer_return() later.  writer_return() makes the writer, with the privileges
 * that the caller then has.  Between writer_depart() and writer_return(), all
 * signals must stay blocked, and the files of the trace are open in the
 * program's descriptor table.
 */
bool writer_depart(bool for_call);
void writer_return(void);

/*
 * A thread of the program calls this while nothing is recorded, before the
 * process ends or execs.  Prevent a new trace.  Return false if a trace has
 * begun meanwhile or if a ring file exists.  In this case the caller must call
 * writer_finish().
 */
bool writer_end_dormant(void);

enum writer_order {
	WRITER_ORDER_NONE = 0,
	WRITER_ORDER_START,
	WRITER_ORDER_STOP,
	WRITER_ORDER_FLUSH,
};

/*
 * A thread of the program calls this.  Make the writer carry out 'order', in
 * the same way as an order of 'hatf ctl'.  Return true when the order is done,
 * or false if it failed.
 */
bool writer_obey(enum writer_order order);

/*
 * A thread of the program calls this.  Make the writer write all published
 * events to the file, and a trailer with 'end'.  Return when that is done, or
 * when the writer has ended.  The process may continue afterwards.
 */
void writer_finish(enum writer_end end);

/*
 * Like writer_finish(), but the calling thread writes the whole trace itself.
 * This is possible if no writer thread was needed so far.  All signals must be
 * blocked.  Return false if this is not possible, or if the trace file cannot
 * be made.  In this case the caller must call writer_finish().
 */
bool writer_finish_brief(enum writer_end end);

/*
 * Call this when the process ends after its writer has ended.  If the trace has
 * no trailer because the disk was full, try again to write the trailer.  Keeps
 * errno.
 */
void writer_end_late(void);

/*
 * A thread of the program calls this when its privileges have just become '*p'.
 * Make the writer adopt these privileges.  Return false if the writer could not
 * adopt them.  In this case the caller must end the trace.
 */
bool writer_follow(const struct privileges *p);

/*
 * Wait until the writer thread has ended.  Call this after writer_finish(),
 * which ends the thread unless 'end' is WRITER_END_EXEC or
 * WRITER_END_ABORT_HANDLED.
 */
void writer_await_gone(void);

/*
 * Call this after writer_finish() or writer_finish_brief() if an exec has
 * failed and the process continues.  All signals must be blocked.
 *
 * After the trailer, the writer pauses for up to a second, because other
 * threads may still have events while the process ends, and no event may follow
 * the trailer.  End this pause, and return when the writer drains the rings
 * again.
 */
void writer_resume(void);

/*
 * A thread of the program calls this after it has recorded an EVENT_FORK with
 * this ticket.  Wait at most 'timeout_ns' until the writer has encoded the
 * event.  If the writer has encoded it in this time, store the event's place in
 * the trace in '*place_ret' and return true.
 */
bool writer_await_fork(uint64_t ticket, uint64_t timeout_ns,
		       struct writer_place *place_ret);

/*
 * Return the position at the end of the trace so far.  Its number of events is
 * approximate.  In the child of any kind of fork, return the parent's position
 * until the child's own trace begins.  Any thread may call this.
 */
struct writer_place writer_place(void);

/*
 * Return the path of the file of 'segment', if 'segment' is the number of the
 * current segment or of the previous one.  Otherwise return the path of the
 * current segment's file.  The child of a fork gets the parent's path until its
 * own trace begins.  Any thread may call this.
 */
const char *writer_path(uint64_t segment);

#endif /* WRITER_H */
