/* SPDX-License-Identifier: MIT */
/*
 * ancestry.h - start time and ancestors of this process, from /proc
 *
 * The system reuses process numbers, so a number together with the start time
 * identifies a process.  An exec changes neither the number nor the start time.
 *
 * Nothing here allocates or locks.  errno may change.
 */
#ifndef ANCESTRY_H
#define ANCESTRY_H

#include <stdint.h>

#include "hatf/codec/comment_text.h"

/*
 * Read the data from /proc, unless this process has already read it.  The
 * caller is the thread that starts the trace, or the writer thread if the
 * process began dormant.  The child of a fork takes its parent's list of
 * ancestors, puts the parent in front of the list, and reads only the child's
 * own start time.
 */
void ancestry_read(void);

/*
 * Add the lines "pid_start" and "ancestors" of the trace's header to 't'.  Add
 * no line if /proc was not readable.  Only the thread that called
 * ancestry_read(), and threads that it created later, may call this function.
 */
void ancestry_add(struct text *t);

/*
 * Return the start time of this process, in ns since boot; 0 if unknown.  The
 * threads that may call ancestry_add() may call this.
 */
uint64_t ancestry_start_ns(void);

#endif /* ANCESTRY_H */
