/* SPDX-License-Identifier: MIT */
/*
 * signals.h - block signals while the trace of an ending process is finished
 *
 * Without the recorder, a call that ends the process ends it at once.  With the
 * recorder, the writer finishes the trace first.  A signal that arrives
 * meanwhile would have come too late without the recorder, because the process
 * would have been gone.  The handler of such a signal must therefore not run,
 * and the signal must not change the exit status.
 *
 * The calling thread blocks all signals.  It cannot block signals in other
 * threads.  If there are other threads, the signals get a handler that keeps
 * them (signal_gate.h).  The following exceptions do not get this handler:
 *
 * - the signals of faults, such as SIGSEGV and SIGABRT
 * - SIGKILL and SIGSTOP, SIGTTIN and SIGTTOU
 * - the two signals that libc uses itself
 * - signals that the program ignores
 * - signals such as SIGCHLD that have no handler and do nothing by default
 *
 * The ending thread makes all these changes, by raw system calls.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

struct signals_held {
	uint64_t mask; /* the thread's mask before signals_hold() */
};

/* Block all signals in the calling thread, and initialize '*held'. */
void signals_hold(struct signals_held *held);

/*
 * Keep other threads from running handlers, too.  The signals that are listed
 * as exceptions at the top of this file keep their handlers.  Call this after
 * signals_hold() if the process does not continue.
 */
void signals_hold_others(void);

/*
 * Restore the mask, so that the kernel delivers pending signals.  Call this if
 * the process continues.
 */
void signals_release(const struct signals_held *held);

/*
 * Restore the mask, and let the gate (signal_gate.h) decide from now on when
 * signals act.  If 'is_short' is set, the process was short, so close the gate
 * for common signals only.  Call this when the trace is finished and exit()
 * continues.  libc then runs destructors and flushes its streams.  A flush may
 * block for ever or raise SIGPIPE.
 *
 * A signal that has arrived since signals_hold() must not act.  If the flush
 * may raise the same signal, discard the one that arrived.  Otherwise the gate
 * keeps the signal or, if the gate is not closed for it, the signal stays
 * blocked.
 *
 * Do none of this under a filter of system calls, which may kill the process
 * for these calls.  Instead, open the gate, and keep all signals blocked except
 * those that the flush may raise.
 */
void signals_release_late(const struct signals_held *held, bool is_short);

/*
 * Does the process have a handler for SIGABRT?  After signals_leave_actions()
 * this is unknown, and the result is true.
 */
bool signals_abort_is_handled(void);

/*
 * The program is about to install a filter that kills the process for
 * rt_sigaction(2).  From now on, the recorder does not call rt_sigaction(2), so
 * handlers may run while a trace is being finished.
 */
void signals_leave_actions(void);

#endif /* SIGNALS_H */
