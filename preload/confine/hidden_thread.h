/* SPDX-License-Identifier: MIT */
/*
 * hidden_thread.h - a thread that libc does not know
 *
 * clone(2) with the program's memory and nothing else of it.  The thread has a
 * thread-local area of its own, zeroed but for what code compiled by us needs
 * (the stack guard), so that errno works; everything else that libc keeps per
 * thread is absent.
 */
#ifndef HIDDEN_THREAD_H
#define HIDDEN_THREAD_H

#include <stdbool.h>

/*
 * Run 'body' in a new thread with all signals blocked; when it returns the
 * thread ends.  The status that it returns, as of wait(2), is that of the
 * process if this is its last thread.  'keep' are the 'n' descriptors that the
 * thread has, at most HIDDEN_THREAD_KEEP_MAX; -1 is none.  False if the system refuses (errno).
 */
#define HIDDEN_THREAD_KEEP_MAX 4
bool hidden_thread_start(int (*body)(void *), void *argument, const int *keep,
		  unsigned n);

/*
 * Run 'body' in the calling thread, on the stack of a thread to come: the
 * caller's own may be tiny.  All signals must be blocked.  False: there is no
 * such stack, and 'body' has not run.
 */
bool hidden_thread_run_here(int (*body)(void *), void *argument);

/*
 * Does the thread live that hidden_thread_start() has made last?  Any thread may ask.
 */
bool hidden_thread_is_alive(void);

/*
 * Return when the thread that hidden_thread_start() has made is no more, if there is
 * one.
 */
void hidden_thread_join(void);

#endif /* HIDDEN_THREAD_H */
