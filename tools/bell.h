/* SPDX-License-Identifier: MIT */
/*
 * bell.h - the file that a tracer without a thread has instead of a socket
 *
 * NUMBER.bell, beside the sockets (sockets.h), which the traced process maps.
 * A byte written into it calls the process; the rest is the process's status
 * (preload/control.h).
 */
#ifndef BELL_H
#define BELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the process is called for, once it allocates. */
enum bell_call {
	BELL_CALL = 1, /* to take orders */
	BELL_START,    /* and record */
	BELL_STOP,     /* and end the trace */
};

/* The bell 'name' of 'owner', and nobody's other file; else -1. */
int bell_open(int place_fd, const char *name, uid_t owner);

bool bell_ring(int fd, enum bell_call call);

/* The inode of the PID namespace that NUMBER is of; 0: not known. */
uint64_t bell_namespace(int fd);

/* Has 'pid' mapped it?  If not, an earlier process with that number made it. */
bool bell_is_mapped(int fd, pid_t pid);

/*
 * Copy the status in the bell, in the form of a tracer's answer to "status":
 * "ok" and lines, NUL-terminated.  Its seconds count up to 'now_ms' of
 * sockets_now_ms().  False:  the bell has no status.
 */
bool bell_read(int fd, uint64_t now_ms, char *answer, size_t cap);

#endif /* BELL_H */
