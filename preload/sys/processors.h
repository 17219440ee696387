/* SPDX-License-Identifier: MIT */
/* processors.h - is any processor idle? */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include <stdbool.h>

/*
 * Are more threads of the system ready to run than the calling thread has
 * processors (proc_loadavg(5), sched_getaffinity(2))?  The calling thread
 * counts as one of them.  Return false if this cannot be found out.  The answer
 * is about this moment only.  It takes some 10 microseconds.  Any thread may
 * call this.
 */
bool processors_are_busy(void);

#endif /* PROCESSORS_H */
