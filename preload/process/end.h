/* SPDX-License-Identifier: MIT */
/*
 * end.h - end the trace at an exit or exec, or because the program restricts
 * itself
 *
 * Only threads of the program call these functions: from the entry points
 * (interpose_*.c), from start.c and confinement.c, and from the exit handlers,
 * which libc calls.
 */
#ifndef END_H
#define END_H

#include <stdbool.h>

#include "preload/writer/writer.h"

/*
 * Register the exit handlers with libc.  Only start_register_handlers() calls
 * this, once.
 */
void end_register(void);

/*
 * Write all events and the trailer.  Call this when the process is about to
 * end, or to exec.  Signals that arrive meanwhile do not change how the process
 * ends (exceptions: signals.h).  If the trace has already ended but lacks its
 * trailer, try again to write the trailer.  In a vfork child, which shares the
 * memory of its parent, this function does nothing.  Keeps errno.
 */
void end_trace(enum writer_end how);

/* Would end_trace() end a trace?  Does not use errno. */
bool end_is_due(void);

/*
 * The calling thread is about to end by syscall(SYS_exit).  If there is neither
 * another thread of the program nor a writer thread, end the trace.  (A writer
 * thread would itself detect the end of the last thread.)  Keeps errno.
 */
void end_last_thread(void);

/*
 * Continue the trace after end_trace() and an exec that failed.  Keeps errno.
 */
void end_resume(void);

/*
 * The program makes, or has just made, a change after which the recorder cannot
 * run, or a change that the writer cannot make in its own thread.  End the
 * trace.  From now on record nothing, neither in this process nor in its
 * children.  'why' is part of the message on standard error.
 */
void end_for_sandbox(const char *why);

/*
 * Leave all later children of the process untraced.  Call this when the program
 * makes a change after which no child can begin a trace.
 */
void end_with_children(void);

/*
 * The program is about to install a filter that may kill the process for a
 * system call of the recorder.  A program that the process executes later
 * inherits the filter, and its recorder would not know of the filter, so keep
 * the recorder out of that program.
 */
void end_with_programs(void);

/*
 * From now on, this process and its children take no orders of 'hatf ctl'.  If
 * 'now' is set, return only when the writer has closed the process's socket.
 */
void end_control(bool now);

#endif /* END_H */
