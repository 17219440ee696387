/* SPDX-License-Identifier: MIT */
/* fork_locks.c - see fork_locks.h */

#include "preload/process/fork_locks.h"

#include "preload/heaps/dlopened.h"
#include "preload/heaps/heap_table.h"

/*
 * How many calls of fork(3) the thread is in.  A handler leaves it as it was.
 * A handler that runs just before the outer call has the locks, or just after,
 * forks without them.  Then another thread may hold one, and the child of a
 * program of several threads must not allocate there anyway.
 */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

void
fork_locks_hold(void)
{
	if (depth++ != 0)
		return;
	pools_before_fork();
	late_before_fork();
}

void
fork_locks_release(void)
{
	if (depth == 0)
		return;
	if (depth == 1) {
		pools_after_fork();
		late_after_fork();
	}
	depth--;
}
