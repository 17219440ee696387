/* SPDX-License-Identifier: MIT */
/* lifecycle.c - see lifecycle.h */

#include "preload/lifecycle.h"
#include "preload/config/follow.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/config/ancestry.h"
#include "preload/config/note_writer.h"
#include "preload/confine/confinement.h"
#include "preload/heaps/dlopened.h"
#include "preload/heaps/jemalloc.h"
#include "preload/heaps/mimalloc.h"
#include "preload/process/begin.h"
#include "preload/process/fork_locks.h"
#include "preload/process/sanitizer.h"
#include "preload/process/signals.h"
#include "preload/record/clock.h"
#include "preload/record/memory_limit.h"
#include "preload/record/real.h"
#include "preload/record/record.h"
#include "preload/record/ringfile.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/writer/control.h"
#include "preload/writer/header.h"
#include "preload/writer/output.h"
#include "preload/writer/remaining_threads.h"

/* How long fork() may wait to learn its event number. */
#define FORK_WAIT_NS 200000000ull

/* NEW is what wiped memory says: a process that has not started its trace. */
enum process_state {
	NEW = 0,
	STARTING,
	TRACING,
	OFF
};

struct process {
	_Atomic uint32_t state; /* enum process_state */
	_Atomic uint64_t fork_ticket;
	_Atomic bool has_exited; /* its exit handlers have run, to the last */
};

static _Atomic(struct process *) process;

/* Not wiped: what a child of a fork wants to know of its parent. */
static int traced_pid;
static bool is_childless; /* children are not traced */
static bool is_sandboxed; /* nor is this process, any more */

/*
 * Does this process begin dormant?  As its configuration says, or if it is the
 * child of a fork as its parent was then.
 */
static bool born_dormant;

/*
 * In a thread that forks, from just before to just after: the number of events of
 * the segment before the fork, times two, plus 1 if it is exact, plus 2.
 */
static __thread uint64_t fork_event __attribute__((tls_model("initial-exec")));
/* ... and the segment in which it is that. */
static __thread uint64_t fork_segment
	__attribute__((tls_model("initial-exec")));
static __thread uint64_t fork_ticket __attribute__((tls_model("initial-exec")));

/*
 * Not wiped: it is dormant because its trace could not be written on.  Written by the
 * writer, and read by a thread that has forked.
 */
static _Atomic bool has_failed;

/* Not wiped: this process, or the one that it came from, is not traced at all. */
static bool is_off;

/* Not wiped: the child of a fork that has had no event, and has not been started. */
static bool is_fresh;

/* Not wiped: a process on the way here went untraced, so nothing is exact. */
static bool was_untraced;

/* Provided by libc; declared in no header. */
int __cxa_atexit(void (*f)(void *), void *argument, void *dso);
int __cxa_at_quick_exit(void (*f)(void *), void *dso);
int __register_atfork(void (*prepare)(void), void (*parent)(void),
		      void (*child)(void), void *dso);

static struct process *
get_process(void)
{
	/* acquire: pairs with the release in map_process(). */
	return atomic_load_explicit(&process, memory_order_acquire);
}

bool
lifecycle_is_tracing(void)
{
	const struct process *const p = get_process();

	/* acquire: pairs with the release in start(). */
	return p != NULL &&
	       atomic_load_explicit(&p->state, memory_order_acquire) == TRACING;
}

static struct process *
map_process(void)
{
	struct process *none = NULL;

	memory_prepare();

	struct process *const mine = memory_map_wiped(sizeof(*mine));

	/* Write it before it is read, or its page is made twice. */
	if (mine != NULL)
		atomic_init(&mine->state, NEW);
	/* Another thread may have been first; its mapping then counts. */
	if (mine != NULL && atomic_compare_exchange_strong_explicit(
				    &process, &none, mine, memory_order_acq_rel,
				    memory_order_acquire))
		return mine;
	return none;
}

/* There is nothing to record into: let that cost as little as if dormant. */
static void
go_off(void)
{
	is_off = true;
	/* relaxed: what is lost from here on is of no trace either way. */
	atomic_store_explicit(&record_dormant, true, memory_order_relaxed);
}

/* Ends -------------------------------------------------------------------- */

/* Libc says: it has made no second thread.  Not there before glibc 2.32. */
extern char __libc_single_threaded __attribute__((weak));

/*
 * Has the program other threads?  Libc answers at once.  Without its answer the
 * kernel has to be asked; under a filter of system calls, asking it may kill.
 */
static bool
has_threads(void)
{
	if (thread_id_count() > 1)
		return true;
	if (&__libc_single_threaded != NULL)
		return __libc_single_threaded == 0;
	return !confinement_is_set() && alone_has_threads(writer_is_here());
}

/* Finish the trace while signals are held. */
static void
finish_held(enum writer_end end)
{
	/* The process goes on after an exec that fails, and with its handler
	 * after abort(); what other threads get then is theirs. */
	const bool goes_on =
		end == WRITER_END_EXEC ||
		(end == WRITER_END_ABORT && signals_abort_is_handled());
	struct signals_held held;

	signals_hold(&held);
	if (!goes_on && has_threads())
		signals_hold_others(&held);
	if ((end == WRITER_END_ABORT && goes_on) || !writer_finish_brief(end))
		writer_finish(end);
	if (goes_on)
		signals_release(&held);
	else if (end == WRITER_END_EXIT)
		signals_release_late(&held);
}

void
lifecycle_end(enum writer_end end)
{
	int saved_errno;

	/* First, and without errno: see real_resolve_rest(). */
	if (!lifecycle_is_tracing())
		say_rest();
	if (!lifecycle_is_tracing() || !lifecycle_is_own())
		return;
	saved_errno = errno;
	if (!writer_end_dormant())
		finish_held(end);
	errno = saved_errno;
}

void
lifecycle_end_last_thread(void)
{
	if (!lifecycle_is_tracing() || writer_is_here() ||
	    alone_has_threads(false))
		return;
	lifecycle_end(WRITER_END_LAST_THREAD);
	/* The status of the last one to leave is the process's. */
	writer_await_gone();
}

void
lifecycle_resume(void)
{
	int saved_errno;
	uint64_t mask;

	if (!lifecycle_is_tracing() || !lifecycle_is_own())
		return;
	saved_errno = errno;
	mask = sys_block_signals();
	writer_resume();
	sys_restore_signals(mask);
	errno = saved_errno;
}

enum lifecycle_scope
lifecycle_scope(void)
{
	const struct process *const p = get_process();
	uint32_t state;

	if (p == NULL || traced_pid == 0)
		return LIFECYCLE_UNTRACED;
	/* relaxed: a hint for the thread that has started it, or its copy. */
	state = atomic_load_explicit(&p->state, memory_order_relaxed);
	if (state == NEW)
		return LIFECYCLE_NEW;
	/* A child that shares our memory is about to become another program. */
	return state == TRACING && lifecycle_is_own() ? LIFECYCLE_TRACED
						      : LIFECYCLE_UNTRACED;
}

void
lifecycle_end_for_sandbox(const char *why)
{
	if (lifecycle_scope() == LIFECYCLE_TRACED) {
		if (!record_is_dormant())
			say("%s: %s; the trace ends here, the program goes on",
			    writer_path(writer_place().segment), why);
		writer_finish(WRITER_END_SANDBOX);
		writer_await_gone();
	}
	is_sandboxed = is_childless = true;
	/* relaxed: other threads' events in between are lost either way. */
	atomic_store_explicit(&record_dormant, true, memory_order_relaxed);
}

bool
lifecycle_is_single(void)
{
	return thread_id_count() == 1 || !alone_has_threads(writer_is_here());
}

bool
lifecycle_is_own(void)
{
	/* A filter may kill for the call. */
	return !is_sandboxed && sys_pid() == traced_pid;
}

void
lifecycle_answer(bool start)
{
	writer_summon();
	if (start && lifecycle_is_own())
		writer_obey(WRITER_ORDER_START);
}

void
lifecycle_have_writer(void)
{
	if (!lifecycle_is_tracing() || !lifecycle_is_own())
		return;
	/*
	 * A dormant process has no file to open, and may insist on being alone.  But
	 * what it does next may hide /proc.
	 */
	if (record_is_dormant())
		writer_get_ready();
	else
		writer_summon();
}

/* About 40 000 events; a child before its exec has few. */
#define VFORK_WORDS 131072u

void
lifecycle_before_vfork(void)
{
	if (record_is_dormant() || !lifecycle_is_tracing() ||
	    !lifecycle_is_own())
		return;
	/* The name without a number is for the parent, which is there first. */
	if (!output_has_pid(lifecycle_config()->out) ||
	    !record_has_room(VFORK_WORDS))
		writer_summon();
}

void
lifecycle_end_control(bool now)
{
	control_forbid();
	while (now && lifecycle_scope() == LIFECYCLE_TRACED &&
	       !control_is_over()) {
		writer_wake();
		sys_sleep(100000);
	}
}

void
lifecycle_end_with_children(void)
{
	is_childless = true;
}

void
lifecycle_set_off(void)
{
	/* release: the file is complete as far as it ever will be. */
	atomic_store_explicit(&get_process()->state, OFF, memory_order_release);
	go_off();
}

void
lifecycle_note_failure(bool failed)
{
	/*
	 * relaxed: halt() follows with a stronger one.  The memory of a child that
	 * is made at that moment may have one of the two: it is then dormant.
	 */
	atomic_store_explicit(&has_failed, failed, memory_order_relaxed);
}

/*
 * Two threads may call exit().  A handler is run by one of them, and a thread that
 * finds none left ends the process, though the other is in ours.  So ours puts
 * itself back before it does anything: each thread that comes finds it, and waits
 * for the same end.  (More of them from the start would do as well, but libc has
 * room for 32 before it allocates, which then shows in the program's heap.)
 */
static bool
has_exited(void)
{
	const struct process *const p = get_process();

	/* relaxed: a second end does no harm. */
	return p == NULL ||
	       atomic_load_explicit(&p->has_exited, memory_order_relaxed);
}

static void
exit_once(enum writer_end end)
{
	lifecycle_end(end);
	/* relaxed: as above. */
	atomic_store_explicit(&get_process()->has_exited, true,
			      memory_order_relaxed);
}

static void
at_exit(void *unused)
{
	(void)unused;
	if (has_exited())
		return;
	__cxa_atexit(at_exit, NULL, NULL);
	exit_once(WRITER_END_EXIT);
}

static void
at_quick_exit_last(void *unused)
{
	(void)unused;
	if (has_exited())
		return;
	__cxa_at_quick_exit(at_quick_exit_last, NULL);
	exit_once(WRITER_END_QUICK_EXIT);
}

/* Forks ------------------------------------------------------------------- */

static void
before_fork(void)
{
	const int saved_errno = errno;
	struct writer_place place;

	if (!lifecycle_is_tracing() || !lifecycle_is_own())
		return;
	thread_note_interrupted();
	/* relaxed: a number. */
	const uint64_t ticket =
		1 + atomic_fetch_add_explicit(&get_process()->fork_ticket, 1,
					      memory_order_relaxed);
	const bool exact = record_event(EVENT_FORK, 0, ticket, 0, 0) &&
			   writer_await_fork(ticket, FORK_WAIT_NS, &place);

	if (!exact)
		place = writer_place();
	fork_event = place.event * 2 + exact + 2;
	fork_segment = place.segment;
	fork_ticket = ticket;
	errno = saved_errno;
}

static void
after_fork_in_child(void)
{
	const int saved_errno = errno;

	if (fork_event != 0)
		thread_mend_interrupted();
	/*
	 * The first event is to come by start(), whatever becomes of it there: a
	 * child of one whose trace has failed has room for its own, or says that
	 * there is none.  relaxed, all: the child has only this thread.  (That of a clone
	 * which is not by syscall(3) does not come here and goes on asleep,
	 * deaf to orders.)
	 */
	if (!is_fresh && !is_off)
		born_dormant = record_is_dormant() &&
			       !atomic_load_explicit(&has_failed,
						     memory_order_relaxed);
	is_fresh = true;
	is_off = false;
	if (!is_sandboxed)
		atomic_store_explicit(&record_dormant, false,
				      memory_order_relaxed);
	errno = saved_errno;
}

/*
 * What other threads did between the two events may have been before or after the
 * memory was copied; see hatf/events/parent_heap.c.
 */
static void
after_fork_in_parent(void)
{
	const int saved_errno = errno;

	/* One that has had no event is as its own parent was when it forked. */
	if (fork_event != 0 && lifecycle_is_tracing() &&
	    sys_pid() == traced_pid) {
		record_event(EVENT_FORK, EVENT_FLAG_FORKED, fork_ticket, 0, 0);
		fork_event = 0;
	}
	errno = saved_errno;
}

void
lifecycle_before_fork(void)
{
	before_fork();
}

void
lifecycle_after_fork(bool is_child)
{
	if (is_child)
		after_fork_in_child();
	else
		after_fork_in_parent();
}

/*
 * By fork(3), which no handler may call that has interrupted an allocation: the
 * others may.
 */
static void
prepare_fork(void)
{
	before_fork();
	if (!is_sandboxed)
		forklocks_hold();
}

static void
fork_in_parent(void)
{
	forklocks_release();
	after_fork_in_parent();
}

static void
fork_in_child(void)
{
	forklocks_release();
	after_fork_in_child();
}

/* Start ------------------------------------------------------------------- */

/*
 * Registered before the program itself could register anything: the handlers
 * run last, after all destructors.  (With a handle of our library, ours
 * would run when the library is finalised, before those of others.)
 */
static void
register_handlers(void)
{
	static _Atomic bool registered; /* a fork's child inherits them */

	/* The first access to a page, which a read would have mapped twice. */
	if (atomic_exchange_explicit(&registered, true, memory_order_relaxed))
		return;
	__cxa_atexit(at_exit, NULL, NULL);
	__cxa_at_quick_exit(at_quick_exit_last, NULL);
	__register_atfork(prepare_fork, fork_in_parent, fork_in_child, NULL);
}

/* What the header says of the parent, if this is the child of a fork. */
static void
get_parent(struct header_parent *parent_ret)
{
	MEMORY_LARGE static char trace[sizeof(((struct output *)NULL)->path)];
	const char *path;

	parent_ret->pid = 0;
	if (traced_pid == 0 || traced_pid == sys_pid())
		return;
	parent_ret->pid = (uint64_t)traced_pid;
	if (fork_event != 0) {
		parent_ret->event = (fork_event - 2) / 2;
		path = writer_path(fork_segment);
	} else {
		const struct writer_place now = writer_place();

		parent_ret->event = now.event;
		path = writer_path(now.segment);
	}
	/* The buffer of 'path' will hold this process's own name. */
	memcpy(trace, path, strlen(path) + 1);
	parent_ret->trace = trace;
	parent_ret->is_exact = (fork_event & 1) != 0 && !was_untraced;
	parent_ret->fork = fork_event != 0 ? fork_ticket : 0;
}

static bool
start_tracing(void)
{
	const bool is_first = traced_pid == 0;
	struct header_parent parent;

	get_parent(&parent);
	if (!begin_read())
		return false;
	if (is_first)
		born_dormant = !lifecycle_config()->start;
	if (!begin_reserve(&parent, is_first, born_dormant) ||
	    (!born_dormant && !begin_prepare()))
		return false;
	if (!born_dormant)
		jotter_begin(writer_start_ns(), lifecycle_config()->out);
	fork_event = 0;
	traced_pid = sys_pid();
	/* relaxed: no other thread knows of the tracer yet. */
	atomic_store_explicit(&record_dormant, born_dormant,
			      memory_order_relaxed);
	register_handlers();
	return true;
}

/*
 * The winner starts the trace, the others wait for it.  'thread_self' is muted,
 * so that what libc allocates for us on the way is not taken for the program's.
 */
static bool
start(struct process *p)
{
	uint32_t state = NEW;

	if (!atomic_compare_exchange_strong_explicit(
		    &p->state, &state, STARTING, memory_order_acq_rel,
		    memory_order_acquire)) {
		while (atomic_load_explicit(&p->state, memory_order_acquire) ==
		       STARTING)
			sched_yield();
		return lifecycle_is_tracing();
	}
	thread_self = &thread_muted;
	is_fresh = false;
	/* A setuid program does not take orders from its environment. */
	const bool tracing = getauxval(AT_SECURE) == 0 && start_tracing();

	was_untraced |= !tracing;
	if (!tracing)
		go_off();
	thread_self = &thread_unattached;
	/* release: publishes all that the start has set up. */
	atomic_store_explicit(&p->state, tracing ? TRACING : OFF,
			      memory_order_release);
	if (tracing && (lifecycle_config()->begin_now || confinement_is_set() ||
			(born_dormant && lifecycle_config()->control &&
			 !control_hang_bell())))
		writer_summon();
	return lifecycle_is_tracing();
}

static bool
ensure_started(void)
{
	struct process *p = get_process();

	if (sanitizer_is_here()) {
		go_off();
		return false;
	}
	if (p == NULL)
		p = map_process();
	if (p == NULL) {
		say("out of memory; not tracing");
		go_off();
		return false;
	}
	/* acquire: as in lifecycle_is_tracing(). */
	const uint32_t state =
		atomic_load_explicit(&p->state, memory_order_acquire);

	if (state == TRACING || state == OFF)
		return state == TRACING;
	if (is_childless && traced_pid != 0) {
		go_off();
		return false;
	}
	return start(p);
}

/*
 * If no other library's constructor has allocated before, the trace begins here:
 * a program without any heap event has a trace too.
 */
static void
start_at_load(void)
{
	const uint64_t mask = sys_block_signals();

	register_handlers();
	real_resolve_rest();
	jemalloc_patch();
	mimalloc_patch();
	late_patch();
	/* The initial thread is to be known as such, whoever allocates first. */
	if (ensure_started() && !record_is_dormant() &&
	    !thread_is_attached(thread_self) && sys_tid() == traced_pid)
		lifecycle_attach(0, 0);
	follow_mark(environ);
	sys_restore_signals(mask);
}

static __attribute__((constructor)) void
construct(int argc, char *argv[])
{
	const int saved_errno = errno;

	header_note_arguments(argc > 0 ? argv : NULL);
	if (sanitizer_is_here()) {
		go_off();
		follow_mark(environ);
		sanitizer_step_aside();
		begin_notes();
		jotter_untraced("with a sanitizer's run-time");
	} else {
		start_at_load();
	}
	header_note_arguments(NULL);
	errno = saved_errno;
}

/* Threads ----------------------------------------------------------------- */

struct thread *
lifecycle_attach(uint64_t parent, uint64_t start_routine)
{
	const struct process *const p = get_process();

	/* The way of every event when tracing is off: no system call. */
	if (p != NULL &&
	    (atomic_load_explicit(&p->state, memory_order_relaxed) == OFF ||
	     (is_childless && lifecycle_scope() == LIFECYCLE_NEW)))
		return NULL;

	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();
	struct thread *t = NULL;
	bool is_handover = false;

	if (ensure_started() && !record_is_dormant()) {
		/* What start_recording() has set up before it cleared the flag. */
		atomic_thread_fence(memory_order_acquire);
		t = thread_attach(traced_pid, &is_handover);
	}
	if (t != NULL && t->id != 0) {
		clock_go_stamped();
		if (is_handover)
			record_event(EVENT_HANDOVER, 0, t->id, 0, 0);
		record_event(EVENT_THREAD, 0, parent, (uint64_t)t->tid,
			     start_routine);
	}
	sys_restore_signals(mask);
	errno = saved_errno;
	return t;
}

struct thread *
lifecycle_attach_nested(struct thread *t)
{
	if (t->nested != NULL)
		return t->nested;

	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();
	struct thread *nested = NULL;

	if (lifecycle_is_tracing()) {
		nested = thread_attach_nested(t);
		/* Two rings: only stamps can order them. */
		clock_go_stamped();
	}
	sys_restore_signals(mask);
	errno = saved_errno;
	return nested;
}

/*
 * Has lifecycle_second_thread() run already, in this process, and does the
 * writer still exist?  Then a further thread needs no system call here.
 */
static bool
expects_threads(void)
{
	return lifecycle_is_tracing() && !record_is_dormant() &&
	       writer_is_here() && clock_expects_threads() &&
	       ringfile_expects_thread();
}

bool
lifecycle_second_thread(void)
{
	if (expects_threads())
		return true;

	const int saved_errno = errno;
	const uint64_t mask = sys_block_signals();
	const bool tracing = ensure_started() && !record_is_dormant();

	if (tracing) {
		writer_summon();
		clock_go_stamped();
		ringfile_expect_thread();
	}
	sys_restore_signals(mask);
	errno = saved_errno;
	return tracing;
}

const struct config *
lifecycle_config(void)
{
	return begin_config();
}
