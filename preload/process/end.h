/* SPDX-License-Identifier: MIT */
/*
 * end.h - the process ends, execs, or confines itself beyond tracing
 *
 * For threads of the program: the interposed functions call these
 * (interpose_*.c, confinement.c), and libc the exit handlers.  The writer
 * thread never does.
 */
#ifndef END_H
#define END_H

#include <stdbool.h>

#include "preload/writer/writer.h"

/*
 * Register the exit handlers.  Call it once, on the thread that starts the
 * trace.
 */
void end_register(void);

/*
 * The process is about to end, or to exec: write all events and the trailer.
 * Signals that arrive meanwhile do not change how it ends (signals.h).  No
 * effect in a vfork child, which shares the memory of its parent.  Keeps errno.
 */
void end_trace(enum writer_end how);

/*
 * The only thread of the process is about to end by pthread_exit() or its like,
 * and there is no writer thread that would notice.  Keeps errno.
 */
void end_last_thread(void);

/* After end_trace() and a failed exec: the trace goes on.  Keeps errno. */
void end_resume(void);

/*
 * A change is about to happen, or has just happened, under which the recorder
 * cannot work or which the writer cannot follow: end the trace, and record
 * nothing from here on, neither here nor in children.  'why' goes into the line
 * on standard error.
 */
void end_for_sandbox(const char *why);

/* A change after which only the traces of children cannot begin. */
void end_with_children(void);

/*
 * Children take no orders from here on; with 'now' neither does this process.
 */
void end_control(bool now);

#endif /* END_H */
