/* SPDX-License-Identifier: MIT */
/*
 * socket_scan.h - find all sockets of recorders, and remove what is left behind
 *
 * Searches the directories of places.h.  Not thread-safe.
 */
#ifndef SOCKET_SCAN_H
#define SOCKET_SCAN_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Find the processes with sockets in this user's directories, or in those of
 * all users for root.  'pids' gets at most 'max' ids in ascending order; return
 * their number.  Remove dead sockets as socket_scan_sweep() does.
 */
size_t socket_scan_find_all(pid_t *pids, size_t max);

/*
 * Remove dead sockets from this user's directories: nobody listens, and the
 * process has ended.
 */
void socket_scan_sweep(void);

#endif /* SOCKET_SCAN_H */
