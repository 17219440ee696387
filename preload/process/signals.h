/* SPDX-License-Identifier: MIT */
/*
 * signals.h - block signals while the trace of an ending process is finished
 *
 * Without the recorder, a call that ends the process ends it at once.  With the
 * recorder, the writer finishes the trace first.  Without the recorder, a
 * signal that arrives meanwhile would have found no process: therefore its
 * handler must not run, and it must not change the exit status.
 *
 * The calling thread blocks all signals.  A thread cannot block signals in
 * other threads.  If there are other threads, the signals get a handler that
 * keeps them (signal_gate.h).  Exceptions are the signals that a thread raises
 * in itself (SIGSEGV, SIGPIPE and the like), libc's own two, and the signals
 * that do nothing.
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

/* Block all signals in the calling thread, and initialise '*held'. */
void signals_hold(struct signals_held *held);

/*
 * After signals_hold(), if the process does not go on: keep other threads from
 * running handlers, too, except those of the signals named above.
 */
void signals_hold_others(void);

/*
 * The process goes on: restore everything.  The kernel then delivers pending
 * signals.
 */
void signals_release(const struct signals_held *held);

/*
 * exit() goes on: libc runs destructors and flushes its streams, which may
 * block for ever or raise SIGPIPE.  Restore the mask.  From now on the gate
 * (signal_gate.h) decides when signals act.  'is_short': the process was short,
 * so close the gate for common signals only; those of the others that have
 * arrived since signals_hold() stay blocked.
 */
void signals_release_late(const struct signals_held *held, bool is_short);

/*
 * Does the process have a handler for SIGABRT?  Also true after
 * signals_leave_actions(), since the answer is then unknown.
 */
bool signals_abort_is_handled(void);

/*
 * The program is about to install a filter that kills for rt_sigaction(2): from
 * now on do not call it.  Handlers may then run while a trace is being
 * finished.
 */
void signals_leave_actions(void);

#endif /* SIGNALS_H */
