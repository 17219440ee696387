/* SPDX-License-Identifier: MIT */
/*
 * left_status.h - the status of a process whose writer thread is not running
 *
 * If the writer thread ends and the process goes on, the writer thread leaves
 * PID.status in the directory of the sockets.  PID is the process's number in
 * its own PID namespace (hatf/recorder/socket_path.h).
 * hatf/recorder/status_file.h describes the content.
 */
#ifndef LEFT_STATUS_H
#define LEFT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Open the status file 'name' in the directory 'place_fd'.  Return -1 if the
 * file cannot be opened, or is not a regular file of 'owner' with a link count
 * of 1.
 */
int left_status_open(int place_fd, const char *name, uid_t owner);

/*
 * Has the process written a status into the file?  If not, the process has just
 * created the file, or was killed before it wrote the status.
 */
bool left_status_is_written(int fd);

/*
 * Return true if no process, in any PID namespace, maps the file.  A process
 * that maps the file holds a lock on it.
 */
bool left_status_is_abandoned(int fd);

/*
 * Has 'pid' mapped the file?  If not, an earlier process with the same number
 * created it.  Return false also if hatf may not read the mappings of 'pid'.
 */
bool left_status_is_mapped(int fd, pid_t pid);

/*
 * Return the last order that the process had carried out when it wrote the
 * file; 0 if the file cannot be read.
 */
uint64_t left_status_seen(int fd);

/*
 * Read the status of 'pid' in the form of a recorder's answer to "status":
 * "ok", the line 'pending' (which may be ""), and more lines, NUL-terminated.
 * The answer states for how many seconds the process has recorded at the time
 * 'now_ms', a value of sockets_now_ms().  Return false if the file has no
 * status, or if the answer needs more than 'cap' bytes.
 */
bool left_status_read(int fd, pid_t pid, const char *pending, uint64_t now_ms,
		      char *answer, size_t cap);

#endif /* LEFT_STATUS_H */
