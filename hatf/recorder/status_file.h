/* SPDX-License-Identifier: MIT */
/*
 * status_file.h - the status of a process whose writer thread has left
 *
 * The file PID.status is in the folder of the sockets (socket_path.h).  When
 * the writer thread leaves, it makes the file, locks the file (flock(2)) before
 * it writes anything, and maps the file.  The process holds the lock as long as
 * it maps the file, even without a writer thread.  The status does not change
 * until the process has a writer thread again; this thread removes the file.
 */
#ifndef STATUS_FILE_H
#define STATUS_FILE_H

#include <stddef.h>
#include <stdint.h>

#define STATUS_FILE_NBYTES 8192

/* The file ends after the first 'status_nbytes' bytes of 'status'. */
struct status_file {
	/*
	 * The last order in the process's slot (bells.h) that the process has
	 * carried out.
	 */
	uint64_t seen;
	uint64_t made_ns; /* when the file was made, by CLOCK_MONOTONIC */
	/* length of 'status'; 0: the file has no status yet */
	uint32_t status_nbytes;
	uint32_t unused;
	/* the text of the answer to the order "status" */
	char status[STATUS_FILE_NBYTES - 24];
};

/*
 * The process and 'hatf ctl' may come from different builds, so the layout must
 * not change.
 */
_Static_assert(offsetof(struct status_file, made_ns) == 8 &&
		       offsetof(struct status_file, status_nbytes) == 16 &&
		       offsetof(struct status_file, status) == 24 &&
		       sizeof(struct status_file) == STATUS_FILE_NBYTES,
	       "the layout of a status file must not change");

#endif /* STATUS_FILE_H */
