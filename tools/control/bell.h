/* SPDX-License-Identifier: MIT */
/*
 * bell.h - the bell: a file through which a recorder without a thread is woken
 *
 * A recorder whose writer thread has ended has no socket.  Instead the traced
 * process maps NUMBER.bell, in the directory of the sockets (sockets.h).  A
 * byte written into the file makes the process start its writer thread with its
 * next allocation; the rest of the file is the status of the process
 * (bell_file.h).
 */
#ifndef BELL_H
#define BELL_H

#include "hatf/recorder/bell_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Open the bell 'name' in the directory 'place_fd'.  Return -1 if the file is
 * not a regular file of 'owner'.
 */
int bell_open(int place_fd, const char *name, uid_t owner);

bool bell_ring(int fd, enum bell_call call);

/* Has no process mapped the file, in any PID namespace? */
bool bell_is_abandoned(int fd);

/*
 * Has 'pid' mapped the file?  If not, an earlier process with the same number
 * created it.
 */
bool bell_is_mapped(int fd, pid_t pid);

/*
 * Read the status of 'pid' from its bell, in the form of a recorder's answer to
 * "status": "ok" and lines, NUL-terminated.  If the bell was rung for a start
 * or stop, "pending=" says so.  'now_ms', from sockets_now_ms(), brings the
 * seconds up to date.  False if the file has no status.
 */
bool bell_read(int fd, pid_t pid, uint64_t now_ms, char *answer, size_t cap);

#endif /* BELL_H */
