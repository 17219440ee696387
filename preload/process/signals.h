/* SPDX-License-Identifier: MIT */
/*
 * signals.h - block signals while the trace of an ending process is finished
 *
 * Without the recorder, a call that ends the process ends it at once.  With it,
 * the writer finishes the trace first.  A signal that arrives meanwhile would
 * have found no process, so no handler of it may run, and it must not change
 * the exit status.
 *
 * The calling thread blocks all signals.  Nobody can block them in other
 * threads, so where there are any the process handles signals by doing nothing
 * instead.  Not ignored are the ones that a thread brings upon itself (SIGSEGV
 * and the like), SIGCHLD and the others whose default is to do nothing, and
 * libc's own two.
 *
 * Everything is raw system calls, on the ending thread.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* SIGRTMAX in the kernel: signals are 1 to this. */
#define SIGNALS_MAX 64

/* What the kernel keeps for one signal; rt_sigaction(2). */
struct signals_action {
	uintptr_t handler; /* or SIG_DFL, SIG_IGN */
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

struct signals_held {
	uint64_t mask;	  /* of the thread, before */
	uint64_t changed; /* bit n - 1: the process does nothing at signal n */
	struct signals_action before[SIGNALS_MAX];
};

/* Block all signals in the calling thread, and initialise '*held'. */
void signals_hold(struct signals_held *held);

/*
 * After that: no other thread runs a handler either, except of those named
 * above.
 */
void signals_hold_others(struct signals_held *held);

/* The process goes on: restore everything; pending signals are delivered. */
void signals_release(const struct signals_held *held);

/*
 * exit() goes on: libc flushes its streams, which may block for ever or raise
 * SIGPIPE.  Restore everything, but keep the signals blocked that have arrived
 * meanwhile.
 */
void signals_release_late(const struct signals_held *held);

/*
 * Does the process have a handler for SIGABRT?  True also where the recorder
 * must not ask.
 */
bool signals_abort_is_handled(void);

/*
 * A filter is coming that kills for rt_sigaction(2): do not call it any more.
 * From here on handlers may run while a trace is being finished.
 */
void signals_leave_actions(void);

#endif /* SIGNALS_H */
