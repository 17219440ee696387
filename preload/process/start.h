/* SPDX-License-Identifier: MIT */
/*
 * start.h - start the trace of the process
 *
 * Tracing starts with the first heap event of a process, however early the
 * event is.  In the child of a fork, tracing starts with the child's first
 * event.  If there was no event before the library's constructor (load.c), the
 * constructor starts the trace.
 */
#ifndef START_H
#define START_H

#include <stdbool.h>

/*
 * Start the trace, unless a thread of this process has already tried to start
 * it.  If another thread is starting the trace, wait for that thread.  Return
 * false if nothing is traced in this process.  attach.c and the constructor
 * call this, with all signals blocked.
 */
bool start_if_new(void);

/*
 * Register handlers with libc for forks and for the end of the process, unless
 * they are registered already.  They stay registered even if nothing is traced.
 */
void start_register_handlers(void);

#endif /* START_H */
