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
 * Run 'body' in a new thread with all signals blocked; when it returns the thread
 * ends.  'keep_fd' is the one descriptor that the thread has.  False if the
 * system refuses (errno).
 */
bool spawn_thread(int (*body)(void *), void *argument, int keep_fd);

#endif /* SPAWN_H */
