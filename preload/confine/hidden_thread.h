/* SPDX-License-Identifier: MIT */
/*
 * hidden_thread.h - a thread that libc does not know
 *
 * clone(2) makes a thread that shares the program's memory, but has its own
 * table of descriptors, working directory and root directory.  The thread also
 * has its own thread-local area, so errno works.  This area is all zeros except
 * for the words that compiled code needs, such as the stack guard.  Everything
 * else that libc keeps per thread is absent, so the hidden thread must not call
 * libc functions that use such data.
 *
 * There is at most one such thread in a process at a time.
 */
#ifndef HIDDEN_THREAD_H
#define HIDDEN_THREAD_H

#include <stdbool.h>

/*
 * Run 'body' in a new thread with all signals blocked.  When 'body' returns,
 * the new thread ends.  'body' returns a status in the format of wait(2).  If
 * the new thread is then the last thread of the process, the process ends with
 * this status.  Only in this case may the status be a death by a signal.  The
 * new thread keeps open the 'n' descriptors in 'keep', at most
 * HIDDEN_THREAD_KEEP_MAX, and no others; entries of -1 are ignored.  'keep' is
 * copied.  If the previous hidden thread has not ended yet, first wait until it
 * has ended.  Return false with errno if there is no memory or the kernel
 * refuses.  Only one thread at a time may call this.
 */
#define HIDDEN_THREAD_KEEP_MAX 4
bool hidden_thread_start(int (*body)(void *), void *argument, const int *keep,
			 unsigned n);

/*
 * Run 'body' in the calling thread, on the stack of the hidden thread, since
 * the caller's own stack may be too small.  All signals must be blocked.  First
 * wait until the previous hidden thread, if any, has ended.  Ignore the result
 * of 'body'.  Return false, without running 'body', if there is no memory for
 * the stack, or the architecture is not x86-64.
 */
bool hidden_thread_run_here(int (*body)(void *), void *argument);

/* Is there a hidden thread that has not ended?  Any thread may call this. */
bool hidden_thread_is_alive(void);

/*
 * Wait until the hidden thread has ended and the kernel no longer counts it as
 * a thread of the process.  Return at once if the process never had a hidden
 * thread.
 */
void hidden_thread_join(void);

#endif /* HIDDEN_THREAD_H */
