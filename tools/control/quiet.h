/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - inspect a traced process that has no socket
 *
 * These functions read /proc, without help of the process.  They work only for
 * root and the process's own user, because only these may read /proc/PID/maps.
 */
#ifndef QUIET_H
#define QUIET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is libhatftrace.so mapped in the process? */
bool quiet_is_preloaded(pid_t pid);

/*
 * Does the process record into memory only?  Such a process has no writer
 * thread and has not begun a trace yet.
 */
bool quiet_is_waiting(pid_t pid);

/*
 * If quiet_is_waiting(pid), write the answer that the recorder would give to
 * "status", and return true.
 */
bool quiet_read_status(pid_t pid, char *answer, size_t cap);

/*
 * Add to 'pids' the processes without a socket that take orders by the file of
 * bells (bell.h) or record into memory only.  Of the processes that record into
 * memory only, omit those that have just started or have HATFTRACE_CONTROL=off.
 * 'pids' has 'count' entries and room for 'max'.  The entries are distinct and
 * in ascending order, before and after the call.  Return the new count.
 */
size_t quiet_add_all(pid_t *pids, size_t count, size_t max);

#endif /* QUIET_H */
