/* SPDX-License-Identifier: MIT */
/*
 * follower.h - the bytes of a trace that is still being written, as a pipe
 *
 * A thread copies the file to a pipe, and waits for more at the end of the file
 * for as long as the writing process is alive.  So who reads the pipe sees one
 * stream that ends when the trace does.
 */
#ifndef FOLLOWER_H
#define FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>

struct follower;

/* A regular file that is open for reading. */
struct followed_file {
	const char *path; /* for messages */
	int fd;
	/*
	 * The process that writes the file, and when it began, in nanoseconds
	 * since boot; 0: unknown.  'pid' 0: nobody writes it any more.
	 */
	uint64_t pid, pid_start;
};

/*
 * Begin to copy.  The descriptor is the follower's from now on.  On failure
 * close it, print a message and return NULL.
 */
struct follower *follower_open(const struct followed_file *file);

/* The end of the pipe to read from; the follower's. */
int follower_fd(const struct follower *f);

/* How many bytes have been copied, and how many the file has. */
void follower_progress(const struct follower *f, uint64_t *copied_ret,
		       uint64_t *nbytes_ret);

/* Has the file lost bytes that were there before? */
bool follower_is_truncated(const struct follower *f);

/*
 * Make the pipe end after the bytes that are there already.  A reader that
 * waits for more then sees the end.
 */
void follower_stop(struct follower *f);

/* Stop, wait for the thread, and free the follower.  NULL is allowed. */
void follower_close(struct follower *f);

#endif /* FOLLOWER_H */
