/* SPDX-License-Identifier: MIT */
/*
 * fork_locks.h - the locks that a thread holds while it forks
 *
 * The child has only the thread that forks, so no other thread may be at what
 * they guard (heap_table.c, dlopened.c).  A signal handler may interrupt
 * fork(3) and call it again: then the locks stay with the outer call.
 */
#ifndef FORK_LOCKS_H
#define FORK_LOCKS_H

/* Before fork(3); after it, in the parent and in the child. */
void fork_locks_hold(void);
void fork_locks_release(void);

#endif /* FORK_LOCKS_H */
