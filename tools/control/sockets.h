/* SPDX-License-Identifier: MIT */
/*
 * sockets.h - find and connect to the sockets of recorders
 *
 * A recorder's socket is NUMBER.sock in one of a few directories, which the
 * recorder chooses (preload/writer/control.c).  NUMBER is the process id in the
 * process's own PID namespace.
 *
 * Nothing in the directories is trusted.  A directory must belong to the
 * expected user, and nobody else may write to it.  A socket must be a socket,
 * not a link, and belong to that user.  The listener must be the expected
 * process, which the kernel confirms (SO_PEERCRED).  Not thread-safe.
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "tools/control/bell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Milliseconds of a monotonic clock. */
uint64_t sockets_now_ms(void);

/*
 * Connect to the recorder of 'pid' before 'until_ms' (sockets_now_ms()).
 * Return a non-blocking descriptor, or -1 with errno.  There is no socket: an
 * errno for which sockets_is_absent() is true; not permitted: EACCES or EPERM;
 * too late: ETIMEDOUT.  '*uid_ret' is the user id of the recorder when it
 * created the socket.
 */
int sockets_connect(pid_t pid, uint64_t until_ms, uid_t *uid_ret);

/*
 * Write the order 'call' into the slot of 'pid' in the file of bells.  If its
 * recorder has no thread and no socket at the moment, the process starts both
 * with its next allocation and does what 'call' says.  BELL_NO: the process
 * does not take orders this way, or the order cannot be written.  BELL_UNKNOWN:
 * we may not see whether it does.
 */
enum bell_listening sockets_ring(pid_t pid, enum bell_call call);

/* Does 'pid' take orders by the file of bells? */
bool sockets_is_listening(pid_t pid);

/*
 * Find the answer to "status" without the help of 'pid', which takes orders by
 * the file of bells: "ok" and lines, NUL-terminated.  '*uid_ret' is as above.
 * False if the process does not do so, or its status cannot be read.
 */
bool sockets_read_status(pid_t pid, char *answer, size_t cap, uid_t *uid_ret);

/* Does this errno of sockets_connect() mean that there is no socket? */
bool sockets_is_absent(int e);

/* Was 'pid' started with HATFTRACE_CONTROL=off? */
bool sockets_is_control_off(pid_t pid);

/*
 * List the directories that are searched for a socket of 'pid', separated by
 * commas and truncated to 'cap' bytes.
 */
void sockets_list_places(pid_t pid, char *list, size_t cap);

/*
 * Find the processes with sockets in this user's directories, or in those of
 * all users for root.  'pids' gets at most 'max' ids in ascending order; return
 * their number.  Remove dead sockets as sockets_sweep() does.
 */
size_t sockets_find_all(pid_t *pids, size_t max);

/*
 * Remove dead sockets from this user's directories: nobody listens, and the
 * process has ended.
 */
void sockets_sweep(void);

/* The id of 'pid' in its own PID namespace. */
long sockets_inner_number(pid_t pid);

/* The user id of 'pid'; our own if there is no such process. */
uid_t sockets_owner_of(pid_t pid);

#endif /* SOCKETS_H */
