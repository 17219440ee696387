/* SPDX-License-Identifier: MIT */
/* follower.c - see follower.h */
#include "tools/live/follower.h"

#include "hatf/hatf.h"
#include "tools/control/started.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Bytes of one read(). */
#define COPY_NBYTES (128 * 1024)

/* How long to wait at the end of the file. */
#define PAUSE_NS (20 * 1000 * 1000)

struct follower {
	int file, pipe[2];
	uint64_t pid, pid_start;
	pthread_t thread;
	bool has_thread;
	atomic_bool is_stopped, is_truncated;
	_Atomic uint64_t copied;
	char buf[COPY_NBYTES];
};

/*
 * Write all bytes to the pipe.  Return false if this fails, usually because the
 * reader has closed the pipe.
 */
static bool
put(struct follower *f, size_t nbytes)
{
	size_t done = 0;

	while (done < nbytes) {
		const ssize_t n =
			write(f->pipe[1], f->buf + done, nbytes - done);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			done += (size_t)n;
	}
	return true;
}

/*
 * Copy the bytes that the file contains now and that were not copied yet.
 * Return false if copying must end, because of an error, because the file was
 * truncated, or because the reader has closed the pipe.
 */
static bool
copy_some(struct follower *f)
{
	struct stat st;
	ssize_t n;

	while ((n = read(f->file, f->buf, sizeof(f->buf))) != 0) {
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0 && !put(f, (size_t)n))
			return false;
		if (n > 0)
			f->copied += (uint64_t)n;
	}
	if (fstat(f->file, &st) == 0 && (uint64_t)st.st_size < f->copied) {
		f->is_truncated = true;
		return false;
	}
	return true;
}

static void *
follow(void *ctx)
{
	static const struct timespec pause = { .tv_nsec = PAUSE_NS };
	struct follower *const f = ctx;

	for (;;) {
		/*
		 * Check for the end of the process before copying, so that its
		 * last bytes are copied, too.
		 */
		const bool is_last = f->is_stopped || f->pid == 0 ||
				     !started_is_alive(f->pid, f->pid_start);

		if (!copy_some(f) || is_last)
			break;
		nanosleep(&pause, NULL);
	}
	close(f->pipe[1]);
	return NULL;
}

/* Begin to copy, in a thread that blocks all signals. */
static bool
start(struct follower *f)
{
	sigset_t all, old;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	result = pthread_create(&f->thread, NULL, follow, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	f->has_thread = result == 0;
	errno = result;
	return f->has_thread;
}

struct follower *
follower_open(const struct followed_file *file)
{
	struct follower *const f = calloc(1, sizeof(*f));

	if (f == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		close(file->fd);
		return NULL;
	}
	f->pid = file->pid;
	f->pid_start = file->pid_start;
	f->file = file->fd;
	f->pipe[0] = -1;
	/*
	 * Ignore SIGPIPE, so that a write to a pipe that the reader has closed
	 * fails with EPIPE.
	 */
	signal(SIGPIPE, SIG_IGN);
	if (pipe2(f->pipe, O_CLOEXEC) != 0 || !start(f)) {
		message_print("%s: %s", file->path, strerror(errno));
		follower_close(f);
		return NULL;
	}
	return f;
}

int
follower_fd(const struct follower *f)
{
	return f->pipe[0];
}

void
follower_progress(const struct follower *f, uint64_t *copied_ret,
		  uint64_t *nbytes_ret)
{
	struct stat st;

	*copied_ret = f->copied;
	*nbytes_ret = fstat(f->file, &st) == 0 ? (uint64_t)st.st_size : 0;
}

bool
follower_is_truncated(const struct follower *f)
{
	return f->is_truncated;
}

void
follower_stop(struct follower *f)
{
	f->is_stopped = true;
}

void
follower_close(struct follower *f)
{
	if (f == NULL)
		return;
	f->is_stopped = true;
	/*
	 * Close the read end first, so that a thread that blocks in writing to
	 * the full pipe gets an error.
	 */
	if (f->pipe[0] >= 0)
		close(f->pipe[0]);
	if (f->has_thread)
		pthread_join(f->thread, NULL);
	else if (f->pipe[0] >= 0)
		close(f->pipe[1]);
	close(f->file);
	free(f);
}
