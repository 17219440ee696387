/* SPDX-License-Identifier: MIT */
/*
 * bell.h - the file that a tracer without a thread has instead of a socket
 *
 * NUMBER.bell, beside the sockets (sockets.h), which the traced process maps.
 * A byte written into it calls the process; the rest is the process's status
 * (bell_file.h).
 */
#ifndef BELL_H
#define BELL_H

#include "hatf/recorder/bell_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The bell 'name' of 'owner', and nobody's other file; else -1. */
int bell_open(int place_fd, const char *name, uid_t owner);

bool bell_ring(int fd, enum bell_call call);

/* Has no process mapped it, in whichever PID namespace? */
bool bell_is_abandoned(int fd);

/* Has 'pid' mapped it?  If not, an earlier process with that number made it. */
bool bell_is_mapped(int fd, pid_t pid);

/*
 * What it says of 'pid', as a tracer answers to "status": "ok" and lines,
 * NUL-terminated, and "pending=" with the start or stop that it is rung for.
 * The seconds in it go on to 'now_ms' of sockets_now_ms().  False: it says
 * nothing.
 */
bool bell_read(int fd, pid_t pid, uint64_t now_ms, char *answer, size_t cap);

#endif /* BELL_H */
