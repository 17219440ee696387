/* SPDX-License-Identifier: MIT */
/*
 * status_file.h - the status of a process whose writer thread has left
 *
 * NUMBER.status lies beside the sockets (socket_path.h).  The writer thread
 * makes the file when it leaves, locks it (flock(2)) before it writes anything,
 * and holds the lock as long as the process maps the file.  The status does not
 * change until the process has a writer thread again, which removes the file.
 */
#ifndef STATUS_FILE_H
#define STATUS_FILE_H

#include <stddef.h>
#include <stdint.h>

#define STATUS_FILE_NBYTES 8192

/* The file may end within 'status'. */
struct status_file {
	uint64_t seen;	  /* the last order in its slot that is done; bells.h */
	uint64_t made_ns; /* CLOCK_MONOTONIC */
	uint32_t status_nbytes; /* 0: no status */
	uint32_t unused;
	/* as the order "status" answers */
	char status[STATUS_FILE_NBYTES - 24];
};

/* Both programs may come from different builds. */
_Static_assert(offsetof(struct status_file, made_ns) == 8 &&
		       offsetof(struct status_file, status_nbytes) == 16 &&
		       offsetof(struct status_file, status) == 24 &&
		       sizeof(struct status_file) == STATUS_FILE_NBYTES,
	       "the layout of a status file");

#endif /* STATUS_FILE_H */
