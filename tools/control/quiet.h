/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - what can be seen of a traced process that has neither socket nor
 * bell
 *
 * From /proc alone: the process takes no part.  Only its user and root, who may
 * read /proc/PID/maps, see anything.
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

/* The file that it executes; empty: not known.  False: it has no name of one line. */
bool quiet_read_exe(pid_t pid, char *exe, size_t cap);

/* If so, write what "status" is to answer, as the tracer would. */
bool quiet_read_status(pid_t pid, char *answer, size_t cap);

/*
 * Add such processes, if they will take orders, to the 'count' different ones
 * of 'pids', which are in ascending order and then are again; at most 'max'.
 * Returns how many there are.
 */
size_t quiet_add_all(pid_t *pids, size_t count, size_t max);

#endif /* QUIET_H */
