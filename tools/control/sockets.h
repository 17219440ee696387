/* SPDX-License-Identifier: MIT */
/*
 * sockets.h - find and connect to the socket of a recorder
 *
 * A recorder's socket is NUMBER.sock in one of the directories of places.h.
 * NUMBER is the process id in the process's own PID namespace.
 *
 * Do not trust the files in these directories.  NUMBER.sock must be a socket,
 * not a link, and belong to the owner of the directory.  The listener must be
 * the expected process, which the kernel confirms (SO_PEERCRED).  Not
 * thread-safe.
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Milliseconds of a monotonic clock. */
uint64_t sockets_now_ms(void);

/*
 * Connect to the recorder of 'pid' before the time 'until_ms' of
 * sockets_now_ms().  Return a non-blocking descriptor, or -1 with errno.  If
 * there is no socket, sockets_is_absent(errno) is true.  EACCES or EPERM: not
 * permitted.  ETIMEDOUT: the accept queue stayed full until 'until_ms'.
 * '*uid_ret' is the user id of the recorder when it created the socket.
 */
int sockets_connect(pid_t pid, uint64_t until_ms, uid_t *uid_ret);

/*
 * Connect to 'name', a socket of 'owner' in the directory 'place_fd'.  Return a
 * non-blocking descriptor, or -1 with errno.  If the accept queue is full,
 * retry until 'until_ms', then fail with EAGAIN.
 */
int sockets_connect_to(int place_fd, const char *name, uid_t owner,
		       uint64_t until_ms);

/*
 * Return the id of the process that listens at the other end of 'fd', or 0 if
 * the process has no id in this PID namespace.  Set '*uid_ret' to the user id
 * that the process had when it called listen().
 */
pid_t sockets_listener(int fd, uid_t *uid_ret);

/* Does this errno value of sockets_connect() mean that there is no socket? */
bool sockets_is_absent(int e);

/* Was 'pid' started with HATFTRACE_CONTROL=off? */
bool sockets_is_control_off(pid_t pid);

#endif /* SOCKETS_H */
