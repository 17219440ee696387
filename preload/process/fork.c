/* SPDX-License-Identifier: MIT */
/* fork.c - see fork.h */

#include "preload/process/fork.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/config/environment.h"
#include "preload/control/control.h"
#include "preload/process/fork_locks.h"
#include "preload/record/record.h"
#include "preload/record/thread.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"
#include "preload/trace/output.h"
#include "preload/writer/writer.h"

/*
 * Provided by libc; declared in no header.  pthread_atfork(3) needs a symbol of
 * the compiler's start files, with which the library is not linked.  With NULL
 * for 'dso', the handlers stay for the life of the process.
 */
int __register_atfork(void (*prepare)(void), void (*parent)(void),
		      void (*child)(void), void *dso);

/*
 * before_fork() waits at most this long for the writer to encode the fork
 * event.  Before that, the event's place in the trace is not known exactly.
 */
#define FORK_WAIT_NS 200000000ull

/*
 * If a ring has room for this many words, about 40 000 events, assume that it
 * has room for the events of a vfork child before its exec.
 */
#define VFORK_WORDS 131072u

/*
 * The fork that the calling thread is making.  'is_pending' is set before the
 * fork.  The parent clears 'is_pending' after the fork.  The child clears its
 * copy when its own trace is set up.
 */
struct pending {
	bool is_pending;
	bool is_exact; /* 'place' is exact, not an estimate */
	struct writer_place place;
	uint64_t ticket;
};

/* The child of the fork inherits a copy of its parent's value. */
static __thread struct pending pending
	__attribute__((tls_model("initial-exec")));

static void
before_fork(void)
{
	const int saved_errno = errno;
	struct pending next = { .is_pending = true };

	if (!process_is_tracing() || !process_is_own())
		return;
	thread_note_interrupted();
	next.ticket = process_next_ticket();
	next.is_exact =
		record_event(EVENT_FORK, 0, next.ticket, 0, 0) &&
		writer_await_fork(next.ticket, FORK_WAIT_NS, &next.place);
	if (!next.is_exact)
		next.place = writer_place();
	pending = next;
	errno = saved_errno;
}

static void
after_fork_in_child(void)
{
	const int saved_errno = errno;

	if (pending.is_pending)
		thread_repair_interrupted();
	process_report_child();
	control_inherit(process_has(PROCESS_BEGINS_DORMANT) &&
			!process_is_barred() &&
			environment_own()->follow.forks);
	errno = saved_errno;
}

/*
 * Record the second event of the fork; before_fork() has recorded the first.
 * If another thread has an event between these two events, the trace does not
 * tell whether the kernel copied the memory before or after that event; see
 * hatf/events/parent_heap.c.
 */
static void
after_fork_in_parent(void)
{
	const int saved_errno = errno;

	/*
	 * Record nothing in a process without a trace.  For example, a process
	 * has neither trace nor ring before its first event.
	 */
	if (pending.is_pending && process_is_tracing() &&
	    sys_pid() == process_pid()) {
		record_event(EVENT_FORK, EVENT_FLAG_FORKED, pending.ticket, 0,
			     0);
		pending.is_pending = false;
	}
	errno = saved_errno;
}

void
fork_before(void)
{
	before_fork();
}

void
fork_after(bool is_child)
{
	if (is_child)
		after_fork_in_child();
	else
		after_fork_in_parent();
}

/*
 * libc calls this before fork(3).  If a signal handler has interrupted an outer
 * fork(3) and now forks, this thread already holds the locks of fork_locks.c;
 * fork_locks_hold() allows this.  Apart from forks, a thread holds these locks
 * only in a call such as malloc() or dlopen().  A signal handler that
 * interrupts such a call must not call fork(3).
 */
static void
prepare_fork(void)
{
	before_fork();
	if (!process_has(PROCESS_IS_SANDBOXED))
		fork_locks_hold();
}

static void
fork_in_parent(void)
{
	fork_locks_release();
	after_fork_in_parent();
}

static void
fork_in_child(void)
{
	fork_locks_release();
	after_fork_in_child();
}

void
fork_register(void)
{
	__register_atfork(prepare_fork, fork_in_parent, fork_in_child, NULL);
}

void
fork_before_vfork(void)
{
	if (record_is_dormant() || !process_is_tracing() || !process_is_own())
		return;
	/*
	 * If the name of the trace has no %p, make the writer so that the
	 * parent's file exists before the child creates its own.  Otherwise the
	 * child would take the parent's name.  If the ring has too little room
	 * for the child's events, make the writer because the child cannot.
	 */
	if (!output_has_pid(environment_own()->out) ||
	    !record_has_room(VFORK_WORDS))
		wake_make_writer();
}

void
fork_get_parent(struct header_parent *parent_ret)
{
	MEMORY_LARGE static char trace[sizeof(((struct output *)NULL)->path)];
	struct writer_place place = pending.place;
	const char *path;

	parent_ret->pid = 0;
	if (process_pid() == 0 || process_pid() == sys_pid())
		return;
	parent_ret->pid = (uint64_t)process_pid();
	if (!pending.is_pending)
		place = writer_place();
	parent_ret->event = place.event;
	path = writer_path(place.segment);
	/*
	 * Copy the path, since this process will overwrite the buffer of
	 * writer_path() with its own path.
	 */
	memcpy(trace, path, strlen(path) + 1);
	parent_ret->trace = trace;
	parent_ret->is_exact = pending.is_pending && pending.is_exact &&
			       !process_has(PROCESS_WAS_UNTRACED);
	parent_ret->fork = pending.is_pending ? pending.ticket : 0;
}

void
fork_forget_parent(void)
{
	pending.is_pending = false;
}
