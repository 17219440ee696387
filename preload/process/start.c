/* SPDX-License-Identifier: MIT */
/* start.c - see start.h */

#include "preload/process/start.h"

#include <stdatomic.h>

#include <sched.h>
#include <sys/auxv.h>

#include "preload/config/environment.h"
#include "preload/config/note_writer.h"
#include "preload/control/control.h"
#include "preload/process/end.h"
#include "preload/process/fork.h"
#include "preload/process/sanitizer.h"
#include "preload/record/thread.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/say.h"
#include "preload/writer/begin.h"
#include "preload/writer/writer.h"

/*
 * Register the exit handlers and the fork handlers.  libc runs exit handlers in
 * reverse order.  The recorder's handlers are registered first, before the
 * program can register its own, so they run last, after all destructors.  (Do
 * not pass a handle of the recorder's library, because libc would then run the
 * handlers when it finalizes the library, before other handlers.)
 */
void
start_register_handlers(void)
{
	/* not wiped in the child of a fork, which inherits the handlers */
	static _Atomic bool registered;

	/*
	 * Do not read the flag before the exchange.  If the first access to the
	 * flag's page is a read, the next write causes a second page fault.
	 */
	if (atomic_exchange_explicit(&registered, true, memory_order_relaxed))
		return;
	end_register();
	fork_register();
}

/* Prepare the trace.  Return false if nothing will be traced. */
static bool
set_up(bool *is_dormant_ret)
{
	const bool is_first = process_pid() == 0;
	struct header_parent parent;
	bool is_dormant;

	fork_get_parent(&parent);
	if (!begin_read())
		return false;
	is_dormant = is_first ? !environment_own()->start
			      : process_has(PROCESS_BEGINS_DORMANT);
	if (!begin_reserve(&parent, is_first, is_dormant))
		return false;
	writer_open_calls();
	if (!is_dormant && !begin_prepare())
		return false;
	if (!is_dormant)
		note_writer_begin(writer_start_ns(), environment_own()->out);
	fork_forget_parent();
	process_set_pid();
	start_register_handlers();
	*is_dormant_ret = is_dormant;
	return true;
}

/*
 * Must the writer thread exist from the start?  One case is a dormant process
 * that has no slot in the file of bells (own_slot.h): 'hatf ctl' can reach such
 * a process only through the writer thread's socket.
 */
static bool
is_writer_wanted(bool is_dormant)
{
	return environment_own()->begin_now ||
	       process_has(PROCESS_IS_CONFINED) ||
	       (is_dormant && environment_own()->control &&
		!control_listen(false));
}

/*
 * Start the trace and report the outcome.  While the trace is set up,
 * 'thread_self' points to 'thread_muted', so that allocations that libc makes
 * for the recorder are not recorded.
 */
static void
start(void)
{
	bool is_dormant = false;

	thread_self = &thread_muted;
	/*
	 * A setuid program must not follow the environment, which its caller
	 * controls.
	 */
	const bool done = getauxval(AT_SECURE) == 0 && set_up(&is_dormant);

	thread_self = &thread_unattached;
	if (!done)
		process_move(PROCESS_NOT_BEGUN);
	else
		process_move(is_dormant ? PROCESS_BEGAN_DORMANT
					: PROCESS_BEGAN);
	if (done && is_writer_wanted(is_dormant))
		wake_make_writer();
}

/*
 * Map the process's state.  Return false if there is no memory, or if the
 * process has the run-time of a sanitizer.
 */
static bool
can_start(void)
{
	if (sanitizer_is_here())
		return false;
	if (process_map())
		return true;
	say("out of memory; not tracing");
	return false;
}

bool
start_if_new(void)
{
	enum process_action action;

	if (!can_start()) {
		process_move(PROCESS_IMPOSSIBLE);
		return false;
	}
	for (;;) {
		action =
			process_move(process_is_barred() ? PROCESS_WANTED_BARRED
							 : PROCESS_WANTED);
		if (action == PROCESS_DO_BEGIN)
			start();
		else if (action == PROCESS_DO_WAIT)
			sched_yield();
		else
			return action == PROCESS_DO_TRACE;
	}
}
