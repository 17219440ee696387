/* SPDX-License-Identifier: MIT */
/*
 * spool.h - a trace that can be read as often as one likes
 *
 * A regular file is opened once, and each reader gets a place of its own in it.
 * What comes through a pipe is copied to a temporary file first, in $TMPDIR or
 * /tmp, which has no name and is gone with the process.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include "hatf/hatf.h"

#include <stdbool.h>

struct spool {
	const char *path; /* as it is to be called in messages */
	int fd;
};

/* Open 'path' ("-" is standard input), or say why not and return false. */
bool spool_open(struct spool *s, const char *path);

/* A reader from the first byte on, with the errors of
 * hatf_reader_open().  Several may read at once, in any threads. */
enum hatf_status spool_reader(const struct spool *s, unsigned jobs,
			      struct hatf_reader **reader_ret,
			      struct hatf_error *err);

void spool_close(struct spool *s);

/* A file descriptor of memory that can be read and written, or -1 with errno. */
int spool_memory(void);

/* Open what a descriptor stands for once more, with its own position. */
enum hatf_status spool_reader_of(int fd, unsigned jobs,
				 struct hatf_reader **reader_ret,
				 struct hatf_error *err);

#endif /* SPOOL_H */
