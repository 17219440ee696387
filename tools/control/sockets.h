/* SPDX-License-Identifier: MIT */
/*
 * sockets.h - the sockets of tracers: where they are and who listens there
 *
 * A tracer's socket is NUMBER.sock in one of a few directories, which are the
 * recorder's (preload/writer/control.c); the number is the process's in its own PID
 * namespace.  Nothing there is believed: a directory counts if it belongs to
 * the user that it should and nobody else can write to it, a socket if it is
 * one, no link, and that user's, and whoever listens must be the process that
 * is wanted, which the kernel says (SO_PEERCRED).
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "tools/control/bell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Milliseconds of a clock that only goes forward. */
uint64_t sockets_now_ms(void);

/*
 * Connect to the tracer of 'pid', by 'until_ms' at the latest.  Returns a
 * descriptor that does not block, or -1 with errno: ENOENT and its like
 * (sockets_is_absent()) if there is none, EACCES or EPERM if it is not for us,
 * ETIMEDOUT.  '*uid_ret' is the user that the tracer was when it made the
 * socket.
 */
int sockets_connect(pid_t pid, uint64_t until_ms, uid_t *uid_ret);

/*
 * Call the tracer of 'pid', which has no thread and no socket at the moment,
 * but a bell.  With the next allocation of the process it makes both, and does
 * what it is called for.  False: that process has no bell.
 */
bool sockets_ring(pid_t pid, enum bell_call call);

/*
 * Copy the answer to "status" that the tracer of 'pid' has left in its bell:
 * "ok" and lines, NUL-terminated.  '*uid_ret' as above.  False: there is none.
 */
bool sockets_read_status(pid_t pid, char *answer, size_t cap, uid_t *uid_ret);

/* Does this errno of sockets_connect() say that there is no socket? */
bool sockets_is_absent(int e);

/* Was 'pid' started with HATFTRACE_CONTROL=off? */
bool sockets_is_control_off(pid_t pid);

/* The directories in which a socket of 'pid' is looked for, with commas between
 * them, cut to 'cap' bytes. */
void sockets_list_places(pid_t pid, char *list, size_t cap);

/*
 * The processes that have sockets in this user's directories, for root in those
 * of all users, in ascending order; at most 'max'.  Removes dead sockets, as
 * sockets_sweep().
 */
size_t sockets_find_all(pid_t *pids, size_t max);

/* Remove from this user's directories the sockets on which nobody listens
 * and whose process is no more. */
void sockets_sweep(void);

/* The number of 'pid' in its own PID namespace. */
long sockets_inner_number(pid_t pid);

/* The user of 'pid'; our own if there is no such process. */
uid_t sockets_owner_of(pid_t pid);

#endif /* SOCKETS_H */
