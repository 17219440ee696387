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

/* The file that it executes; empty: not known.  False: it has no name of one line. */
bool quiet_read_exe(pid_t pid, char *exe, size_t cap);

/* If so, write what "status" is to answer, as the tracer would. */
bool quiet_tell(pid_t pid, char *answer, size_t cap);

#endif /* QUIET_H */
