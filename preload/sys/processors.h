/* SPDX-License-Identifier: MIT */
/* processors.h - is any processor idle? */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include <stdbool.h>

/*
 * Are more threads ready to run in the whole system than there are processors
 * that the calling thread may use (proc_loadavg(5), sched_getaffinity(2))?  The
 * calling thread counts as ready.  Return false if this cannot be found out.
 * Also return false if the calling thread has a filter of system calls, which
 * might kill the process for asking.  The answer is about this moment only.
 * The call takes some 10 microseconds.  Any thread may make it.
 */
bool processors_are_busy(void);

#endif /* PROCESSORS_H */
