/* SPDX-License-Identifier: MIT */
/* fork_locks.c - see fork_locks.h */

#include "preload/process/fork_locks.h"

#include "preload/heaps/dlopened.h"
#include "preload/heaps/heap_table.h"

/*
 * The number of calls of fork(3) that are in progress in this thread: more than
 * one if a signal handler has interrupted fork(3) and forks again.  When such a
 * handler returns, the number is what it was before.  A handler may interrupt
 * fork_locks_hold() after the change of 'depth', but before the locks are
 * taken.  If that handler forks, it forks without the locks, while another
 * thread may hold one of them.  The lack of the locks is harmless, because the
 * child of a multithreaded program must not allocate after such a fork.
 */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

void
fork_locks_hold(void)
{
	if (depth++ != 0)
		return;
	heap_table_before_fork();
	dlopened_before_fork();
}

void
fork_locks_release(void)
{
	if (depth == 0)
		return;
	if (depth == 1) {
		heap_table_after_fork();
		dlopened_after_fork();
	}
	depth--;
}
