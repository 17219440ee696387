/* SPDX-License-Identifier: MIT */
/*
 * start.h - the process's trace starts
 *
 * Tracing starts with the first heap event of a process, whichever it is and
 * however early, and in the child of a fork with the child's first one.  The
 * library's constructor (load.c) starts it if no event came before.
 */
#ifndef START_H
#define START_H

#include <stdbool.h>

/*
 * Start the trace, unless that has been tried in this process.  False: nothing
 * is traced here.  attach.c and the constructor call it, with all signals
 * blocked.
 */
bool start_if_new(void);

/*
 * Have libc report forks and the end of the process, once.  The handlers stay
 * registered when nothing is traced.
 */
void start_register_handlers(void);

#endif /* START_H */
