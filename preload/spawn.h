/* SPDX-License-Identifier: MIT */
/*
 * spawn.h - a thread that libc does not know
 *
 * clone(2) with the program's memory and nothing else of it.  The thread has a
 * thread-local area of its own, zeroed but for what code compiled by us needs
 * (the stack guard), so that errno works; everything else that libc keeps per
 * thread is absent.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <stdbool.h>

/*
 * Run 'body' in a new thread, which blocks all signals and has no descriptors; the
 * thread ends when 'body' returns.  False if the system refuses (errno).
 */
bool spawn_thread(int (*body)(void *), void *argument);

/* Return when the thread that spawn_thread() has made is no more, if there is one. */
void spawn_await_gone(void);

#endif /* SPAWN_H */
