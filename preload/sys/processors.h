/* SPDX-License-Identifier: MIT */
/* processors.h - is any processor idle? */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include <stdbool.h>

/*
 * Are more threads of the system ready to run than the calling thread has
 * processors (proc_loadavg(5), sched_getaffinity(2))?  The calling thread
 * counts as one of them.  Return false if this cannot be found out, and if the
 * calling thread has a filter of system calls, which might kill the process for
 * asking.  The answer is about this moment only.  The call takes some 10
 * microseconds.  Any thread may make it.
 */
bool processors_are_busy(void);

#endif /* PROCESSORS_H */
