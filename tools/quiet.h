/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - what can be seen of a traced process that has neither socket nor bell
 *
 * By /proc alone: the process is not asked, and does nothing for it.  Only who may look
 * into /proc/PID/maps sees anything: its user and root.
 */
#ifndef QUIET_H
#define QUIET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is libhatftrace.so mapped there? */
bool quiet_is_preloaded(pid_t pid);

/*
 * Does it record into memory only, with no writer thread and no trace so far?
 */
bool quiet_is_waiting(pid_t pid);

/* If so, write what "status" is to answer, as the tracer would. */
bool quiet_tell(pid_t pid, char *answer, size_t cap);

/*
 * Add such processes, if they will take orders, to the 'count' different ones
 * of 'pids', which are in ascending order and then are again; at most 'max'.
 * Returns how many there are.
 */
size_t quiet_add_all(pid_t *pids, size_t count, size_t max);

#endif /* QUIET_H */
