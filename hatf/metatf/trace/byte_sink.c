/* SPDX-License-Identifier: MIT */
/* byte_sink.c - see byte_sink.h */
#include "hatf/metatf/trace/byte_sink.h"

#include "hatf/io/try_again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZLIB_CONST /* make next_in point to const */
#include <zlib.h>

/* The highest level of zlib, which is the default here. */
#define LEVEL_MAX 9

struct byte_deflate {
	z_stream zlib;
	uint8_t out[BYTE_SINK_NBYTES];
};

/* Make a temporary file without a name, which close() deletes. */
static int
temporary_file(void)
{
	const char *const dir = getenv("TMPDIR");
	int fd = open(dir != NULL && dir[0] != '\0' ? dir : "/tmp",
		      O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char name[] = "/tmp/hatf-metatf-XXXXXX";

	if (fd >= 0)
		return fd;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

bool
byte_sink_init(struct byte_sink *s, bool is_compressed, int level)
{
	*s = (struct byte_sink){ .fd = temporary_file(),
				 .buf = malloc(BYTE_SINK_NBYTES) };
	if (is_compressed)
		s->deflate = calloc(1, sizeof(*s->deflate));
	/* The window bits 31 stand for the largest window and a gzip header. */
	if (s->fd >= 0 && s->buf != NULL &&
	    (!is_compressed ||
	     (s->deflate != NULL &&
	      deflateInit2(&s->deflate->zlib,
			   level < 1 || level > LEVEL_MAX ? LEVEL_MAX : level,
			   Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) == Z_OK)))
		return true;
	if (s->fd >= 0)
		errno = ENOMEM;
	/*
	 * byte_sink_fini() closes the file only if there is a buffer, so close
	 * the file here if there is none.
	 */
	if (s->buf == NULL && s->fd >= 0)
		close(s->fd);
	byte_sink_fini(s);
	return false;
}

void
byte_sink_fini(struct byte_sink *s)
{
	const int saved_errno = errno;

	if (s->deflate != NULL)
		deflateEnd(&s->deflate->zlib);
	free(s->deflate);
	if (s->buf != NULL && s->fd >= 0)
		close(s->fd);
	free(s->buf);
	*s = (struct byte_sink){ .fd = -1 };
	errno = saved_errno;
}

int
byte_sink_write(int fd, const uint8_t *bytes, size_t nbytes)
{
	while (nbytes != 0) {
		const ssize_t n = write(fd, bytes, nbytes);

		if (n < 0 && !try_again(fd, POLLOUT))
			return errno;
		if (n > 0) {
			bytes += n;
			nbytes -= (size_t)n;
		}
	}
	return 0;
}

static void
write_out(struct byte_sink *s, const uint8_t *bytes, size_t nbytes)
{
	if (s->sys_errno == 0)
		s->sys_errno = byte_sink_write(s->fd, bytes, nbytes);
	s->nbytes += nbytes;
}

static void
squeeze(struct byte_sink *s, const uint8_t *bytes, size_t nbytes, int flush)
{
	struct byte_deflate *const d = s->deflate;

	d->zlib.next_in = bytes;
	d->zlib.avail_in = (uInt)nbytes;
	do {
		d->zlib.next_out = d->out;
		d->zlib.avail_out = sizeof(d->out);
		deflate(&d->zlib, flush);
		write_out(s, d->out, sizeof(d->out) - d->zlib.avail_out);
	} while (d->zlib.avail_out == 0);
}

void
byte_sink_flush(struct byte_sink *s)
{
	if (s->deflate != NULL)
		squeeze(s, s->buf, s->used, Z_NO_FLUSH);
	else
		write_out(s, s->buf, s->used);
	s->used = 0;
}

void
byte_sink_put(struct byte_sink *s, const uint8_t *bytes, size_t nbytes)
{
	while (nbytes != 0) {
		const size_t piece =
			nbytes < BYTE_SINK_NBYTES ? nbytes : BYTE_SINK_NBYTES;

		memcpy(byte_sink_room(s, piece), bytes, piece);
		s->used += piece;
		bytes += piece;
		nbytes -= piece;
	}
}

bool
byte_sink_finish(struct byte_sink *s)
{
	byte_sink_flush(s);
	if (s->deflate != NULL)
		squeeze(s, NULL, 0, Z_FINISH);
	return s->sys_errno == 0;
}

int
byte_sink_copy(struct byte_sink *s, int fd)
{
	uint64_t offset = 0;
	ssize_t n;
	int sys_errno = 0;

	while (sys_errno == 0 && offset < s->nbytes) {
		n = pread(s->fd, s->buf, BYTE_SINK_NBYTES, (off_t)offset);
		if (n <= 0)
			return n == 0 ? EIO : errno;
		sys_errno = byte_sink_write(fd, s->buf, (size_t)n);
		offset += (uint64_t)n;
	}
	return sys_errno;
}
