/* SPDX-License-Identifier: MIT */
/*
 * fork.h - record forks, and tell the child where the parent's trace has them
 *
 * The parent records each fork.  The header of the child's trace says where in
 * the parent's trace this fork is.  For fork(3), libc calls the handlers that
 * fork_register() has registered; for other forks, interpose_exit.c and
 * interpose_sandbox.c call fork_before() and fork_after().
 */
#ifndef FORK_H
#define FORK_H

#include <stdbool.h>

#include "preload/trace/header.h"

/*
 * Register fork handlers with libc.  Only start_register_handlers() calls this,
 * once.
 */
void fork_register(void);

/*
 * These functions are for a fork that does not run the handlers registered with
 * pthread_atfork().  Call fork_before() before the fork, and fork_after() in
 * parent and child.  Both functions keep errno, and may be called in a signal
 * handler.
 */
void fork_before(void);
void fork_after(bool is_child);

/*
 * The calling thread is about to make a child by vfork.  Such a child shares
 * the memory of its parent, records into the ring of the calling thread, and
 * cannot make the writer thread.  Make the writer now if the ring may lack room
 * for the child's events, or if the trace that the child begins after its exec
 * would have the same name as this process's trace.  Keeps errno.
 */
void fork_before_vfork(void);

/*
 * The thread that starts the trace calls these.  If this process is the child
 * of a fork, fork_get_parent() describes the parent for the header.  Otherwise
 * it only sets the parent's pid to 0.  fork_forget_parent() drops what the
 * process knows of that fork; call it when the trace is set up.
 */
void fork_get_parent(struct header_parent *parent_ret);
void fork_forget_parent(void);

#endif /* FORK_H */
