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
 * Start a thread that writes 'trace' in encoding 'e', with the 'flags' of
 * encoding_write().  Open f->reader, which reads what the thread writes, with
 * the 'read_flags' of hatf_reader_open().  On failure, return false and set
 * f->status and f->err.  If both the writer thread and the reader fail, store
 * the failure of the writer thread, such as HATF_BAD_OPTION.
 */
bool feeder_open(struct feeder *f, const struct spool *trace, enum encoding e,
		 unsigned flags, unsigned read_flags);

/*
 * Close the reader and join the thread.  'status' is the result of the reader's
 * last read.  Return HATF_OK if the trace was written and read to its end.
 * Otherwise return the error of the writer thread or, if the thread had no
 * error, the error of the reader.  f->err has the details of the error.
 */
enum hatf_status feeder_close(struct feeder *f, enum hatf_status status);

#endif /* FEEDER_H */
