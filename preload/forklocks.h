/* SPDX-License-Identifier: MIT */
/*
 * forklocks.h - the locks that a thread holds while it forks
 *
 * The child has only the thread that forks, so no other thread may be at what
 * they guard (pools.c, late.c).  A signal handler may interrupt fork(3) and call
 * it again: then the locks stay with the outer call.
 */
#ifndef FORKLOCKS_H
#define FORKLOCKS_H

/* Before fork(3); after it, in the parent and in the child. */
void forklocks_hold(void);
void forklocks_release(void);

#endif /* FORKLOCKS_H */
