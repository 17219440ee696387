/* SPDX-License-Identifier: MIT */
/*
 * bell.h - the file of bells, which wakes a recorder without a thread
 *
 * A recorder whose writer thread has ended has no socket.  Instead the traced
 * process maps a file in the directory of the sockets (places.h), which all
 * processes of a user share, and looks at its slot (hatf/recorder/bells.h).  An
 * order in the slot makes the process start its writer thread with its next
 * allocation.
 */
#ifndef BELL_H
#define BELL_H

#include "hatf/recorder/bells.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Open the file of bells in the directory 'place_fd'.  Return -1 if it is not
 * as the process of 'owner' requires.
 */
int bell_open(int place_fd, uid_t owner);

/*
 * Find what names 'pid' in an order.  'number' is its number in its own PID
 * namespace.
 */
struct bells_process bell_find_process(pid_t pid, long number);

/* Write an order for 'p' into its slot. */
bool bell_ring(int fd, const struct bells_process *p, enum bell_call call);

/*
 * Return the start or stop for 'p' that is in its slot and is not 'seen', the
 * last one that it has carried out (0: none), or 0.
 */
enum bell_call bell_pending(int fd, const struct bells_process *p,
			    uint64_t seen);

enum bell_listening {
	BELL_NO,     /* it does not map the file */
	BELL_YES,    /* it takes orders by this file */
	BELL_UNKNOWN /* we may not read what it maps */
};

/* Does 'pid' map this file? */
enum bell_listening bell_is_mapped(int fd, pid_t pid);

/* Does 'pid' map a file of that name? */
bool bell_may_listen(pid_t pid);

#endif /* BELL_H */
