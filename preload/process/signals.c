/* SPDX-License-Identifier: MIT */
/* signals.c - see signals.h */

#include "preload/process/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "preload/process/signal_action.h"
#include "preload/process/signal_gate.h"
#include "preload/state/process_state.h"
#include "preload/sys/sys.h"

#define BIT(signal) SIGNAL_ACTION_BIT(signal)

/*
 * Signals that a thread causes itself, by a fault or by abort(3).  A program
 * may rely on its handlers for them.
 */
#define FAULTS                                                    \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | \
	 BIT(SIGTRAP) | BIT(SIGSYS) | BIT(SIGABRT))

/*
 * Signals whose actions stay as they are: the actions of SIGKILL and SIGSTOP
 * cannot be changed, and the signals 32 and 33 are libc's own.
 */
#define FIXED (BIT(SIGKILL) | BIT(SIGSTOP) | BIT(32) | BIT(33))

/*
 * Signals that the gate does not handle, because the terminal may send them
 * again and again to a process with a handler.
 */
#define FROM_TERMINAL (BIT(SIGTTIN) | BIT(SIGTTOU))

/* Signals that exit() may raise in its own thread when it flushes streams. */
#define RAISED_BY_FLUSH (FAULTS | FROM_TERMINAL | BIT(SIGPIPE) | BIT(SIGXFSZ))

/*
 * The signals that the gate keeps.  Exception: if the process itself causes
 * SIGPIPE or SIGXFSZ after the trace is finished, the gate lets this signal
 * act.
 */
#define GATED (~(FIXED | FAULTS | FROM_TERMINAL))

/*
 * Set just before the program installs a filter that kills the process for
 * rt_sigaction(2).  The child of a fork inherits the filter, so the flag is not
 * wiped in the child.
 */
static _Atomic bool are_actions_left;

void
signals_leave_actions(void)
{
	/*
	 * relaxed: the calling thread, which is about to install the filter,
	 * sees its own store.
	 */
	atomic_store_explicit(&are_actions_left, true, memory_order_relaxed);
}

static bool
may_change_actions(void)
{
	/* relaxed: see signals_leave_actions(). */
	return !atomic_load_explicit(&are_actions_left, memory_order_relaxed);
}

void
signals_hold_others(void)
{
	if (may_change_actions())
		signal_gate_close(GATED, true);
}

void
signals_hold(struct signals_held *held)
{
	held->mask = sys_block_signals();
}

void
signals_release(const struct signals_held *held)
{
	sys_restore_signals(held->mask);
}

void
signals_release_late(const struct signals_held *held, bool is_short)
{
	const uint64_t flush = RAISED_BY_FLUSH & ~held->mask;
	const struct timespec now = { 0, 0 };
	uint64_t pending = 0, gated;

	/*
	 * A filter may kill the process for the calls below, so make none of
	 * them.  Keep all signals blocked except those that the flush may
	 * raise.
	 */
	if (process_has(PROCESS_IS_CONFINED)) {
		signal_gate_open();
		sys_restore_signals(~flush);
		return;
	}
	signal_gate_close(is_short ? SIGNAL_GATE_COMMON : GATED, false);
	gated = signal_gate_start_time();
	syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	/*
	 * The signals that the flush may raise are about to be unblocked.
	 * Discard those that arrived before the flush.
	 */
	while ((pending & flush) != 0 && syscall(SYS_rt_sigtimedwait, &flush,
						 NULL, &now, sizeof(flush)) > 0)
		;
	sys_restore_signals(held->mask | (pending & ~flush & ~gated));
}

bool
signals_abort_is_handled(void)
{
	struct signal_action action;

	if (!may_change_actions())
		return true;
	return signal_action_change(SIGABRT, NULL, &action) == 0 &&
	       action.handler != (uintptr_t)SIG_DFL &&
	       action.handler != (uintptr_t)SIG_IGN;
}
