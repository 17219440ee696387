/* SPDX-License-Identifier: MIT */
/* feeder.c - see feeder.h */
#include "tools/measure/feeder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void *
feed(void *arg)
{
	struct feeder *const f = arg;

	f->status = encoding_write(f->trace, f->encoding, f->flags, f->write_fd,
				   &f->err);
	close(f->write_fd);
	return NULL;
}

/*
 * Read the rest of the pipe, so that the writer thread does not block on a full
 * pipe.
 */
static void
drain(int fd)
{
	char buf[4096];
	ssize_t n;

	do
		n = read(fd, buf, sizeof(buf));
	while (n > 0 || (n < 0 && errno == EINTR));
}

/* Read the rest of the pipe, and join the writer thread. */
static void
finish(struct feeder *f)
{
	drain(f->read_fd);
	close(f->read_fd);
	pthread_join(f->thread, NULL);
}

static bool
fail_io(struct feeder *f, int sys_errno)
{
	f->status = HATF_IO;
	f->err = (struct hatf_error){ .status = HATF_IO,
				      .sys_errno = sys_errno };
	return false;
}

bool
feeder_open(struct feeder *f, const struct spool *trace, enum encoding e,
	    unsigned flags, unsigned read_flags)
{
	struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
		.flags = read_flags,
	};
	struct hatf_error err;
	int fds[2], sys_errno;

	memset(f, 0, sizeof(*f));
	f->trace = trace;
	f->encoding = e;
	f->flags = flags;
	if (pipe2(fds, O_CLOEXEC) != 0)
		return fail_io(f, errno);
	f->read_fd = fds[0];
	f->write_fd = fds[1];
	sys_errno = pthread_create(&f->thread, NULL, feed, f);
	if (sys_errno != 0) {
		close(fds[0]);
		close(fds[1]);
		return fail_io(f, sys_errno);
	}
	options.fd = f->read_fd;
	if (hatf_reader_open(NULL, &options, &f->reader, &err) == HATF_OK)
		return true;
	finish(f);
	/*
	 * If the writer thread failed, its failure is the likely cause of the
	 * reader's error.  In this case, keep the status of the writer thread.
	 */
	if (f->status == HATF_OK) {
		f->status = err.status;
		f->err = err;
	}
	return false;
}

enum hatf_status
feeder_close(struct feeder *f, enum hatf_status status)
{
	const struct hatf_error err = *hatf_reader_error(f->reader);

	hatf_reader_close(f->reader);
	finish(f);
	if (f->status == HATF_OK && status != HATF_END) {
		f->status = status;
		f->err = err;
	}
	return f->status;
}
