/* SPDX-License-Identifier: MIT */
/* spool.c - see spool.h */
#include "tools/trace/spool.h"

#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_NBYTES 65536

int
spool_temporary(void)
{
	const char *const dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/hatf-XXXXXX",
		 dir != NULL && dir[0] != '\0' ? dir : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Copy all bytes of 'in' to 'out'.  Return false with errno on failure. */
static bool
copy(int in, int out)
{
	char *const buf = malloc(COPY_NBYTES);
	ssize_t n = -1, done = 0;

	if (buf == NULL)
		return false;
	do {
		n = read(in, buf, COPY_NBYTES);
		for (done = 0; done < n;) {
			const ssize_t written =
				write(out, buf + done, (size_t)(n - done));

			if (written < 0 && errno != EINTR)
				break;
			done += written < 0 ? 0 : written;
		}
	} while ((n > 0 && done == n) || (n < 0 && errno == EINTR));
	free(buf);
	return n == 0;
}

/* Replace 's->fd' by a temporary copy. */
static bool
spool_copy(struct spool *s)
{
	const int fd = spool_temporary();

	if (fd < 0) {
		message_print("cannot create a temporary file: %s",
			      strerror(errno));
		return false;
	}
	if (!copy(s->fd, fd)) {
		message_print("%s: cannot copy to a temporary file: %s",
			      message_path(s->path), strerror(errno));
		close(fd);
		return false;
	}
	close(s->fd);
	s->fd = fd;
	return true;
}

bool
spool_open(struct spool *s, const char *path)
{
	struct stat st;

	s->path = path;
	if (strcmp(path, "-") == 0)
		s->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st) != 0) {
		message_print("%s: %s", message_path(path), strerror(errno));
		spool_close(s);
		return false;
	}
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || spool_copy(s))
		return true;
	spool_close(s);
	return false;
}

enum hatf_status
spool_reader_of(int fd, unsigned jobs, struct hatf_reader **reader_ret,
		struct hatf_error *err)
{
	const struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
		.jobs = jobs,
	};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return hatf_reader_open(path, &options, reader_ret, err);
}

enum hatf_status
spool_reader(const struct spool *s, unsigned jobs,
	     struct hatf_reader **reader_ret, struct hatf_error *err)
{
	return spool_reader_of(s->fd, jobs, reader_ret, err);
}

void
spool_close(struct spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int
spool_memory(void)
{
	return memfd_create("hatf", MFD_CLOEXEC);
}
