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
 * other threads.  If there are other threads, the process gets a handler that
 * does nothing.  Exceptions are the signals that a thread raises in itself
 * (SIGSEGV and the like) and libc's own two, which are unchanged, and those
 * whose default action is to do nothing, such as SIGCHLD, which get it.
 *
 * The ending thread makes all these changes, by raw system calls.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* SIGRTMAX in the kernel: signals are 1 to this. */
#define SIGNALS_MAX 64

/* The kernel's struct for rt_sigaction(2). */
struct signals_action {
	uintptr_t handler; /* or SIG_DFL, SIG_IGN */
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

struct signals_held {
	uint64_t mask;	  /* of the thread, before signals_hold() */
	uint64_t changed; /* bit n - 1: the action of signal n was changed */
	struct signals_action before[SIGNALS_MAX];
};

/* Block all signals in the calling thread, and initialise '*held'. */
void signals_hold(struct signals_held *held);

/*
 * After signals_hold(): keep other threads from running handlers, too, except
 * those of the signals named above.
 */
void signals_hold_others(struct signals_held *held);

/*
 * The process goes on: restore everything.  The kernel then delivers pending
 * signals.
 */
void signals_release(const struct signals_held *held);

/*
 * exit() goes on: libc flushes its streams, which may block for ever or raise
 * SIGPIPE.  Restore everything, but keep the signals blocked that have arrived
 * since signals_hold().
 */
void signals_release_late(const struct signals_held *held);

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
