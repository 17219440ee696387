/* SPDX-License-Identifier: MIT */
/*
 * fork_locks.h - the locks that a thread holds while it forks
 *
 * The child has only the thread that forks.  If another thread were changing
 * data at the moment of the fork, the change would stay incomplete in the
 * child.  The locks keep other threads from changing the data of heap_table.c
 * and dlopened.c during the fork.  If a signal handler interrupts fork(3) and
 * forks again, the outer call keeps the locks.
 */
#ifndef FORK_LOCKS_H
#define FORK_LOCKS_H

/* Take the locks, before fork(3). */
void fork_locks_hold(void);

/* Release the locks, after fork(3), both in the parent and in the child. */
void fork_locks_release(void);

#endif /* FORK_LOCKS_H */
