/* SPDX-License-Identifier: MIT */
/*
 * feeder.h - a trace in another encoding, read while a thread writes it
 *
 * The bytes go through a pipe, so whatever the length of the trace, only a
 * writer and a reader take memory.
 */
#ifndef FEEDER_H
#define FEEDER_H

#include "tools/measure/encoding.h"

#include <pthread.h>

struct feeder {
	const struct spool *trace;
	enum encoding encoding;
	unsigned flags;
	int write_fd; /* the thread's */
	int read_fd;
	pthread_t thread;
	struct hatf_reader *reader;
	enum hatf_status status; /* of the writer */
	struct hatf_error err;
};

/*
 * Begin to write 'trace' in an encoding (flags as for encoding_write()) and open
 * a reader of it, f->reader, with HATF_READER_ flags.  A failure has
 * f->status and f->err; if it is that of the writer, HATF_BAD_OPTION say, the reader's
 * is not told.
 */
bool feeder_open(struct feeder *f, const struct spool *trace, enum encoding e,
		 unsigned flags, unsigned read_flags);

/*
 * End it; 'status' is that of the reader's last read.  Returns that of both,
 * HATF_OK if the trace was written and read to its end, and has f->err.
 */
enum hatf_status feeder_close(struct feeder *f, enum hatf_status status);

#endif /* FEEDER_H */
