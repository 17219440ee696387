/* SPDX-License-Identifier: MIT */
/*
 * spool.h - a trace that can be read several times
 *
 * The path of a regular file is used only once.  Each reader opens the file
 * again by its descriptor, and has its own position in the file.  A pipe is
 * first copied to an unnamed temporary file in $TMPDIR or /tmp, which the
 * kernel removes when the file is closed.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include "hatf/hatf.h"

#include <stdbool.h>

struct spool {
	const char *path; /* name for messages */
	int fd;
};

/*
 * Open 'path' ("-" is standard input).  On failure print an error message and
 * return false.
 */
bool spool_open(struct spool *s, const char *path);

/*
 * Open a reader that begins at the first byte.  Errors: those of
 * hatf_reader_open().  Several readers may exist at once, in different threads.
 */
enum hatf_status spool_reader(const struct spool *s, unsigned jobs,
			      struct hatf_reader **reader_ret,
			      struct hatf_error *err);

void spool_close(struct spool *s);

/*
 * Return a descriptor of a new unnamed temporary file in $TMPDIR or /tmp; -1
 * with errno on failure.  The kernel removes the file when the descriptor is
 * closed.
 */
int spool_temporary(void);

/* Return a descriptor of an anonymous file in memory, or -1 with errno. */
int spool_memory(void);

/*
 * Open a reader of the file to which 'fd' refers, with a position of its own.
 */
enum hatf_status spool_reader_of(int fd, unsigned jobs,
				 struct hatf_reader **reader_ret,
				 struct hatf_error *err);

#endif /* SPOOL_H */
