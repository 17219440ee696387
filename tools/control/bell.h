/* SPDX-License-Identifier: MIT */
/*
 * bell.h - the file of bells, which wakes a recorder without a writer thread
 *
 * A recorder whose writer thread is not running has no socket.  Instead the
 * traced process maps a file in the directory of the sockets (places.h).  All
 * processes of a user share this file, and each uses one slot of it
 * (hatf/recorder/bells.h).  'hatf ctl' writes an order into the slot of a
 * process.  The next allocation of the process notices the order and starts the
 * writer thread.
 */
#ifndef BELL_H
#define BELL_H

#include "hatf/recorder/bells.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Open the file of bells in the directory 'place_fd'.  Return -1 if the file
 * cannot be opened, does not belong to 'owner', or does not have the mode, the
 * size or the link count (1) that a recorder requires.
 */
int bell_open(int place_fd, uid_t owner);

/*
 * Find the values that identify 'pid' in an order.  'number' is the id of the
 * process in its own PID namespace.
 */
struct bells_process bell_find_process(pid_t pid, long number);

/* Write an order for 'p' into its slot.  Return false on failure. */
bool bell_ring(int fd, const struct bells_process *p, enum bell_call call);

/*
 * Return the order to start or to stop that is pending in the slot of 'p', or 0
 * if there is none.  'seen' is the last order that the process has carried out,
 * or 0.  If the slot still contains 'seen', no order is pending.
 */
enum bell_call bell_pending(int fd, const struct bells_process *p,
			    uint64_t seen);

enum bell_listening {
	BELL_NO,     /* the process does not map the file */
	BELL_YES,    /* the process maps the file and sees orders in it */
	BELL_UNKNOWN /* hatf may not read the mappings of the process */
};

/* Does 'pid' map the file of bells that is open as 'fd'? */
enum bell_listening bell_is_mapped(int fd, pid_t pid);

/*
 * Does 'pid' map any file with the name of a file of bells?  Return false if
 * hatf may not read the mappings of 'pid'.
 */
bool bell_may_listen(pid_t pid);

#endif /* BELL_H */
