/* SPDX-License-Identifier: MIT */
/*
 * bell_file.h - the file by which 'hatf ctl' calls a process without a writer
 * thread
 *
 * NUMBER.bell lies beside the sockets (socket_path.h).  The traced process
 * makes it, locks it (flock(2)) before it writes anything, and holds the lock
 * as long as it maps the file.  'hatf ctl' writes an enum bell_call into the
 * first byte; the next allocation of the process finds the byte.  The rest is
 * the status of the process when it made the file, which does not change until
 * the process is called.
 */
#ifndef BELL_FILE_H
#define BELL_FILE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What the process does once it allocates. */
enum bell_call {
	BELL_CALL = 1, /* make the writer thread, which takes orders then */
	BELL_START,    /* the same, and begin to record */
	BELL_STOP,     /* the same, and end the trace */
};

#define BELL_FILE_NBYTES 8192

/* The file may end within 'status'. */
struct bell_file {
	_Atomic uint8_t rung; /* 0, or an enum bell_call */
	uint8_t unused[3];
	_Atomic uint32_t status_nbytes;	    /* written last; 0: no status */
	uint64_t made_ns;		    /* CLOCK_MONOTONIC */
	char status[BELL_FILE_NBYTES - 16]; /* as the order "status" answers */
};

/* Both programs may come from different builds. */
_Static_assert(offsetof(struct bell_file, status_nbytes) == 4 &&
		       offsetof(struct bell_file, made_ns) == 8 &&
		       offsetof(struct bell_file, status) == 16 &&
		       sizeof(struct bell_file) == BELL_FILE_NBYTES,
	       "the layout of a bell");

#endif /* BELL_FILE_H */
