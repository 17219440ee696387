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
	WRITER_END_SANDBOX,	/* the program goes on where we cannot */
	WRITER_END_LAST_THREAD, /* it left without ending the process */
	WRITER_END_STOP,	/* recording was stopped; the process goes on */
};

/* A place in the trace. */
struct writer_place {
	uint64_t segment;
	uint64_t event; /* logical events in it before */
};

/* What writer_reserve() maps. */
size_t writer_memory_nbytes(int level);

/*
 * Map the writer's memory for a trace that begins now or, if 'is_dormant', with
 * an order to start.  'is_child': of a fork; its parent's files are not its
 * own.  False: no memory.
 */
bool writer_reserve(const struct config *config, bool is_child,
		    bool is_dormant);

/*
 * Set all up for that trace, with the names of 'output'.  No thread and no file
 * is made yet.  False: no memory.
 */
bool writer_prepare(const struct config *config, const struct output *output);
bool writer_is_prepared(void);

/*
 * A thread of the program: take the second step of begin.h now, if no other
 * thread does.  Keeps errno.
 */
void writer_get_ready(void);

/* Once writer_reserve() has mapped the memory: let wake.h work. */
void writer_open_calls(void);

/*
 * The calling thread is about to do something after which the writer thread
 * could not be made, or could not open its files: make it now.  Keeps errno.
 */
void writer_make_early(void);

/*
 * The bell of a dormant process has rung (record.h): have the writer, and
 * record if that is wanted.  Returns 'p'.  Keeps errno.
 */
void *writer_answer_bell(void *p);

/* Time 0 of the trace, on CLOCK_MONOTONIC. */
uint64_t writer_start_ns(void);

/*
 * The calling thread, the only one of the process, must be alone: the writer
 * writes all events so far to the file, and leaves.  Returns when it is gone;
 * false: it has to stay.  It is made again as in the first place, or, where it
 * left 'for_call', by writer_return(), with the privileges that the caller has
 * then; until then its files are open in the program's table of descriptors.
 * All signals must be blocked.
 */
bool writer_depart(bool for_call);
void writer_return(void);

/*
 * A thread of the program, when nothing is recorded: the process is about to
 * end or to exec, nothing is to begin any more.  False if it has begun
 * meanwhile, and writer_finish() is called for.
 */
bool writer_end_dormant(void);

enum writer_order {
	WRITER_ORDER_NONE = 0,
	WRITER_ORDER_START,
	WRITER_ORDER_STOP,
	WRITER_ORDER_FLUSH,
};

/*
 * A thread of the program: as 'hatf ctl' would have it done.  Returns when it
 * is, and whether.
 */
bool writer_obey(enum writer_order order);

/*
 * A thread of the program: everything that has been published so far is to be
 * in the file, with a trailer that says 'end'.  Returns when it is, or when the
 * writer is no more.  The process may go on afterwards.
 */
void writer_finish(enum writer_end end);

/*
 * Like writer_finish(), with all signals blocked: if no writer thread was
 * needed so far, the calling thread writes the whole trace itself.  False: it
 * has not, and the caller must call writer_finish().
 */
bool writer_finish_brief(enum writer_end end);

/*
 * A thread of the program, whose privileges have just become '*p': have the
 * writer take them on, too.  False: it cannot, and the caller must end the
 * trace.
 */
bool writer_follow(const struct privileges *p);

/* After WRITER_END_SANDBOX: return when there is no writer thread any more. */
void writer_await_gone(void);

/*
 * After writer_finish() the writer holds its breath for a second, so that what
 * other threads do while the process ends does not come after the trailer.  The
 * process goes on (an exec has failed): go on at once.  Returns when the rings
 * are as they were before; all signals must be blocked.
 */
void writer_resume(void);

/*
 * A thread of the program: after its EVENT_FORK with this ticket, wait until
 * the writer has come to it, at most 'timeout_ns'.  Returns whether it has;
 * '*place_ret' is then where it is.
 */
bool writer_await_fork(uint64_t ticket, uint64_t timeout_ns,
		       struct writer_place *place_ret);

/*
 * How far the trace is, about; what a raw copy of the process finds in its
 * memory.
 */
struct writer_place writer_place(void);

/*
 * The file of a segment, the current one or the one before it; for others, that
 * of the current one.  In the child of a fork, its parent's until it starts a
 * writer.
 */
const char *writer_path(uint64_t segment);

#endif /* WRITER_H */
