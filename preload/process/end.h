/* SPDX-License-Identifier: MIT */
/*
 * end.h - the process ends, execs, or goes where it cannot be traced
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
 * Have libc call us when the process exits; the thread that starts the trace,
 * once.
 */
void end_register(void);

/*
 * The process is about to end, or to exec: everything into the file.  Signals
 * that arrive meanwhile do not change how it ends (signals.h).  Does nothing in
 * a vfork child, which is still its parent.  Keeps errno.
 */
void end_trace(enum writer_end how);

/*
 * The only thread of the process is about to leave it without ending it: where
 * there is no writer thread that would notice.  Keeps errno.
 */
void end_last_thread(void);

/* end_trace() came before an exec that has failed: the process goes on. */
void end_resume(void);

/*
 * A change is about to happen, or has just happened, under which the recorder
 * cannot work or which the writer cannot follow: the trace ends here, and
 * nothing is recorded any more, nor in children.  'why' goes into the line on
 * standard error.
 */
void end_for_sandbox(const char *why);

/* ... or only the traces of children could not begin. */
void end_with_children(void);

/*
 * Likewise for taking orders: children take none, and with 'now' this process
 * does not either from here on.
 */
void end_control(bool now);

#endif /* END_H */
