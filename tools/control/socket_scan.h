/* SPDX-License-Identifier: MIT */
/*
 * socket_scan.h - find all sockets of recorders, and remove those of ended
 * processes
 *
 * Searches the directories of places.h.  Not thread-safe.
 */
#ifndef SOCKET_SCAN_H
#define SOCKET_SCAN_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Find the processes that listen at sockets in this user's directories or, if
 * the user is root, in the directories of all users.  Write at most 'max' ids
 * to 'pids', in ascending order, and return their number.  Also remove what
 * socket_scan_sweep() removes.
 */
size_t socket_scan_find_all(pid_t *pids, size_t max);

/*
 * Remove dead sockets from this user's directories.  A socket is dead if the
 * process that created it has ended and no process listens at it.  Also remove
 * status files, and unfinished files of bells, that ended processes left.
 */
void socket_scan_sweep(void);

#endif /* SOCKET_SCAN_H */
