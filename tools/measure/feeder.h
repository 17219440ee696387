/* SPDX-License-Identifier: MIT */
/*
 * feeder.h - a trace in another encoding, read while a thread writes it
 *
 * A pipe connects the writer thread and the reader, so memory does not depend
 * on the length of the trace.
 */
#ifndef FEEDER_H
#define FEEDER_H

#include "tools/measure/encoding.h"

#include <pthread.h>

struct feeder {
	const struct spool *trace;
	enum encoding encoding;
	unsigned flags;
	int write_fd; /* owned by the writer thread */
	int read_fd;
	pthread_t thread;
	struct hatf_reader *reader;
	/* until the join, only the writer thread uses 'status' and 'err' */
	enum hatf_status status;
	struct hatf_error err;
};

/*
 * Start a thread that writes 'trace' in an encoding, with flags as for
 * encoding_write(), and open the reader f->reader, with flags of
 * hatf_reader_open().  On failure, return false and set f->status and f->err; a
 * failure of the writer thread, such as HATF_BAD_OPTION, takes precedence over
 * one of the reader.
 */
bool feeder_open(struct feeder *f, const struct spool *trace, enum encoding e,
		 unsigned flags, unsigned read_flags);

/*
 * Close the reader and join the thread.  'status' is the result of the reader's
 * last read.  Return HATF_OK if the trace was written and read to its end.
 * Otherwise return the error of the writer thread or, without one, that of the
 * reader, with its details in f->err.
 */
enum hatf_status feeder_close(struct feeder *f, enum hatf_status status);

#endif /* FEEDER_H */
