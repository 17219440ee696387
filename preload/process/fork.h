/* SPDX-License-Identifier: MIT */
/*
 * fork.h - the process forks
 *
 * The parent records each fork, and the child's header names the place in the
 * parent's trace.  Forks by libc come here through pthread_atfork(); the
 * functions of interpose_exit.c and interpose_sandbox.c report the others.
 */
#ifndef FORK_H
#define FORK_H

#include <stdbool.h>

#include "preload/trace/header.h"

/* Have libc report its forks; the thread that starts the trace, once. */
void fork_register(void);

/*
 * A fork that runs no handlers of pthread_atfork(): to be called before it and,
 * in parent and child, after it.  Keep errno; may be called in a signal
 * handler.
 */
void fork_before(void);
void fork_after(bool is_child);

/*
 * The calling thread is about to make a child that shares the memory, records
 * into the same ring, and cannot make the writer thread.  Make the writer now,
 * unless the ring has room for the events of such a child and the child's own
 * trace, after its exec, gets another name.  Keeps errno.
 */
void fork_before_vfork(void);

/*
 * The thread that starts the trace: what the header says of the parent, if this
 * is the child of a fork; then that the trace has begun, in which the parent is
 * of no interest any more.
 */
void fork_get_parent(struct header_parent *parent_ret);
void fork_forget_parent(void);

#endif /* FORK_H */
