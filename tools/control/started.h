/* SPDX-License-Identifier: MIT */
/* started.h - when did a process begin? */
#ifndef STARTED_H
#define STARTED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * In nanoseconds since the system's start, to a clock tick; false: there is no such
 * process.
 */
bool started_ns(uint64_t pid, uint64_t *ns_ret);

/* Likewise, but false too if it has ended and only was not waited for. */
bool started_alive_ns(uint64_t pid, uint64_t *ns_ret);

/* Does the process 'pid' that began at 'start_ns' (0: not known) go on? */
bool started_is_alive(uint64_t pid, uint64_t start_ns);

/* Is 'pid' a process that began less than so many milliseconds ago? */
bool started_lately(uint64_t pid, uint64_t ms);

#endif /* STARTED_H */
