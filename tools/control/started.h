/* SPDX-License-Identifier: MIT */
/* started.h - the start times of processes */
#ifndef STARTED_H
#define STARTED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Store the start time of 'pid' in nanoseconds since boot, with the resolution
 * of a clock tick.  Return false if there is no such process.
 */
bool started_ns(uint64_t pid, uint64_t *ns_ret);

/* Like started_ns(), but also return false for a zombie. */
bool started_alive_ns(uint64_t pid, uint64_t *ns_ret);

/*
 * Is the process 'pid' that started at 'start_ns' still running?  Return false
 * if 'start_ns' is 0, which stands for an unknown start.
 */
bool started_is_alive(uint64_t pid, uint64_t start_ns);

/* Did process 'pid' start less than 'ms' milliseconds ago? */
bool started_lately(uint64_t pid, uint64_t ms);

#endif /* STARTED_H */
