/* SPDX-License-Identifier: MIT */
/* end.c - see end.h */

#include "preload/process/end.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "preload/config/hide_library.h"
#include "preload/control/control.h"
#include "preload/process/signals.h"
#include "preload/record/record.h"
#include "preload/record/thread.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer.h"

/* Provided by libc; declared in no header. */
int __cxa_atexit(void (*f)(void *), void *argument, void *dso);
int __cxa_at_quick_exit(void (*f)(void *), void *dso);

/*
 * 0 if libc has made a second thread.  glibc has this variable since version
 * 2.32.
 */
extern char __libc_single_threaded __attribute__((weak));

/*
 * Has the program ever had several threads?  The answer is yes if more than one
 * thread was recorded.  Otherwise ask '__libc_single_threaded' or, if libc
 * lacks this variable, the kernel's count of threads.  Under a filter of system
 * calls, which may kill the process for reading the count, assume that the
 * program has one thread.
 */
static bool
has_threads(void)
{
	if (thread_id_count() > 1)
		return true;
	if (&__libc_single_threaded != NULL)
		return __libc_single_threaded == 0;
	return !process_has(PROCESS_IS_CONFINED) &&
	       remaining_threads_several(wake_has_writer());
}

/*
 * Finish the trace with all signals blocked.  Unblock them only if the process
 * continues, or before exit() flushes its streams.
 */
static void
finish_held(enum writer_end how)
{
	/*
	 * After a failed exec, or in a handler of SIGABRT, the process
	 * continues.  Its other threads must then get their signals.
	 */
	bool goes_on = how == WRITER_END_EXEC;
	struct signals_held held;
	bool is_brief;

	if (how == WRITER_END_ABORT && signals_abort_is_handled()) {
		how = WRITER_END_ABORT_HANDLED;
		goes_on = true;
	}

	signals_hold(&held);
	if (!goes_on && has_threads())
		signals_hold_others();
	is_brief = how != WRITER_END_ABORT_HANDLED && writer_finish_brief(how);
	if (!is_brief)
		writer_finish(how);
	if (goes_on)
		signals_release(&held);
	else if (how == WRITER_END_EXIT)
		signals_release_late(&held, is_brief);
}

bool
end_is_due(void)
{
	return process_is_tracing() && process_is_own();
}

void
end_trace(enum writer_end how)
{
	int saved_errno;

	/*
	 * Make these checks before the first use of errno
	 * (real_resolve_others() says why).
	 */
	if (!process_is_tracing()) {
		say_rest();
		writer_end_late();
	}
	if (!end_is_due())
		return;
	saved_errno = errno;
	if (!writer_end_dormant())
		finish_held(how);
	errno = saved_errno;
}

void
end_last_thread(void)
{
	if (!process_is_tracing() || wake_has_writer() ||
	    remaining_threads_several(false))
		return;
	end_trace(WRITER_END_LAST_THREAD);
	/*
	 * The process gets the exit status of its last thread, so the writer
	 * thread must end first.
	 */
	writer_await_gone();
}

void
end_resume(void)
{
	int saved_errno;
	uint64_t mask;

	if (!process_is_tracing() || !process_is_own())
		return;
	saved_errno = errno;
	mask = sys_block_signals();
	writer_resume();
	sys_restore_signals(mask);
	errno = saved_errno;
}

void
end_for_sandbox(const char *why)
{
	if (process_scope() == PROCESS_SCOPE_TRACED) {
		if (!record_is_dormant())
			say("%s: %s; the trace ends now, and the program "
			    "continues",
			    writer_path(writer_place().segment), why);
		writer_finish(WRITER_END_SANDBOX);
		writer_await_gone();
	}
	process_move(PROCESS_SANDBOXED);
}

void
end_with_children(void)
{
	process_move(PROCESS_CHILDREN_BARRED);
}

void
end_with_programs(void)
{
	/*
	 * The child of a vfork() shares its parent's environment, so the vfork
	 * child of a traced process must not hide the library there.  This
	 * function cannot tell a process that has recorded nothing yet from its
	 * vfork child, so both hide the library.  The price: if the child does
	 * so, programs that the parent executes later run untraced, too.
	 */
	if (process_is_own() || process_scope() == PROCESS_SCOPE_NEW)
		hide_library(environ);
}

void
end_control(bool now)
{
	control_forbid();
	while (now && process_scope() == PROCESS_SCOPE_TRACED &&
	       !control_is_over()) {
		wake_writer();
		sys_sleep(100000);
	}
}

/*
 * Two threads may call exit().  If the handler were registered once, only one
 * thread would run the handler.  The other thread would find no handler, and
 * would end the process before the trace is complete.  The handler therefore
 * first registers itself again.  Each thread that calls exit() then runs the
 * handler, and waits until the trace has ended.  Between the moment when libc
 * takes the handler and the moment when the handler registers itself again,
 * another thread may call exit(), and needs the handler, too.  So the handler
 * is registered twice from the start.  (Many registrations at the start would
 * not do instead, because libc has room for only 32.  For more, libc allocates,
 * which would change the program's heap.)
 */
static void
at_exit(void *unused)
{
	(void)unused;
	if (process_state() == PROCESS_ENDED)
		return;
	if (process_is_tracing())
		__cxa_atexit(at_exit, NULL, NULL);
	end_trace(WRITER_END_EXIT);
	process_move(PROCESS_EXITED);
}

static void
at_quick_exit_last(void *unused)
{
	(void)unused;
	if (process_state() == PROCESS_ENDED)
		return;
	if (process_is_tracing())
		__cxa_at_quick_exit(at_quick_exit_last, NULL);
	end_trace(WRITER_END_QUICK_EXIT);
	process_move(PROCESS_EXITED);
}

void
end_register(void)
{
	for (int i = 0; i < 2; i++) {
		__cxa_atexit(at_exit, NULL, NULL);
		__cxa_at_quick_exit(at_quick_exit_last, NULL);
	}
}
