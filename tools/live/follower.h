/* SPDX-License-Identifier: MIT */
/*
 * follower.h - the bytes of a trace that is still being written, as a pipe
 *
 * A thread copies the file to a pipe.  At the end of the file the thread waits
 * for more bytes, as long as the process that writes the file is alive.  The
 * reader of the pipe therefore sees one stream, whose end comes after the end
 * of that process.
 */
#ifndef FOLLOWER_H
#define FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>

struct follower;

/* A regular file that is open for reading. */
struct followed_file {
	const char *path; /* path for messages */
	int fd;
	/*
	 * The process that writes the file, and its start in nanoseconds since
	 * boot.  If one of the two is 0, the follower does not wait for more
	 * bytes.
	 */
	uint64_t pid, pid_start;
};

/*
 * Begin to copy.  The follower takes ownership of the descriptor.  On failure
 * close the descriptor, print a message and return NULL.
 */
struct follower *follower_open(const struct followed_file *file);

/* Return the read end of the pipe, which the follower owns. */
int follower_fd(const struct follower *f);

/* Store the number of bytes copied so far, and the length of the file. */
void follower_progress(const struct follower *f, uint64_t *copied_ret,
		       uint64_t *nbytes_ret);

/* Did the file become shorter than the number of bytes copied from it? */
bool follower_is_truncated(const struct follower *f);

/*
 * Let the pipe end after the bytes that the file has now.  A reader that waits
 * for more bytes then sees the end.
 */
void follower_stop(struct follower *f);

/* Stop, wait for the thread, and free the follower.  NULL is allowed. */
void follower_close(struct follower *f);

#endif /* FOLLOWER_H */
