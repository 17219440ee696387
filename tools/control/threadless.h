/* SPDX-License-Identifier: MIT */
/*
 * threadless.h - reach a recorder whose writer thread is not running
 *
 * Such a recorder has no socket.  It takes orders by the file of bells (bell.h)
 * and, if it has had a writer thread, has left its status in a file
 * (left_status.h), both in the directories of places.h.  Use these files only
 * if they belong to the expected user and the process has mapped them.  Not
 * thread-safe.
 */
#ifndef THREADLESS_H
#define THREADLESS_H

#include "tools/control/bell.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Write the order 'call' into the slot of 'pid' in the file of bells.  If the
 * process has no writer thread and no socket at the moment, its next allocation
 * starts a writer thread and creates a socket.  Then the process carries out
 * 'call'.  Return
 *
 * - BELL_YES: the order was written;
 * - BELL_NO: the process does not take orders by the file of bells, or the
 *   order cannot be written;
 * - BELL_UNKNOWN: the order was written, but we have no permission to see
 *   whether the process takes orders by the file of bells.
 */
enum bell_listening threadless_ring(pid_t pid, enum bell_call call);

/* Does 'pid' take orders by the file of bells? */
bool threadless_is_listening(pid_t pid);

/*
 * Make the answer that 'pid' would give to "status", without the help of that
 * process: "ok" and lines, NUL-terminated.  Set '*uid_ret' to the owner of the
 * file of bells.  Return false if the process does not take orders by the file
 * of bells, or if its status cannot be read.
 */
bool threadless_read_status(pid_t pid, char *answer, size_t cap,
			    uid_t *uid_ret);

#endif /* THREADLESS_H */
