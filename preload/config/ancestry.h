/* SPDX-License-Identifier: MIT */
/*
 * ancestry.h - who the process is and where it comes from, from proc(5)
 *
 * A process number is used again; together with the time at which the process
 * began, which an exec does not change, it is not.
 */
#ifndef ANCESTRY_H
#define ANCESTRY_H

#include <stdint.h>

#include "hatf/codec/comment_text.h"

/*
 * Find it out, once for each process: by the thread that starts its trace, or
 * by the writer of one that began dormant.  The child of a fork takes over what
 * its parent knew.
 */
void ancestry_read(void);

/*
 * The header's lines "pid_start" and "ancestors"; none where /proc does not
 * show them.
 */
void ancestry_add(struct text *t);

/* When this process began, in ns since the system's start; 0: not known. */
uint64_t ancestry_start_ns(void);

#endif /* ANCESTRY_H */
