/* SPDX-License-Identifier: MIT */
/*
 * input.c - see input.h
 *
 * inflate() gives out everything that its input determines as long as it is asked
 * with room in the output and until it makes no progress, so a member that was
 * cut off at any byte yields all that can be known of it.
 */
#include "input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* RFC 1952; zlib's window bits for "gzip only, any window". */
#define GZIP_ID1	 0x1f
#define GZIP_ID2	 0x8b
#define GZIP_WINDOW_BITS (16 + MAX_WBITS)

/* read() that waits for what is not there yet.  -1 sets 'sys_errno'. */
static ssize_t
read_some(struct input *in, uint8_t *to, size_t nbytes)
{
	for (;;) {
		const ssize_t got = read(in->fd, to, nbytes);

		if (got >= 0)
			return got;
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			struct pollfd wait = { .fd = in->fd, .events = POLLIN };

			if (poll(&wait, 1, -1) >= 0 || errno == EINTR)
				continue;
		}
		if (errno != EINTR) {
			in->sys_errno = errno;
			return -1;
		}
	}
}

/* Read into 'to' and keep count.  Returns 0 and sets 'status' at the end. */
static size_t
read_file(struct input *in, uint8_t *to, size_t nbytes)
{
	const ssize_t got = read_some(in, to, nbytes);

	if (got > 0) {
		in->file_nbytes += (uint64_t)got;
		return (size_t)got;
	}
	in->file_ended = true;
	in->status = got < 0 ? HATF_IO : HATF_END;
	return 0;
}

enum hatf_status
input_init(struct input *in, int fd)
{
	size_t used = 0;

	*in = (struct input){ .fd = fd };
	in->buf = malloc(INPUT_BUF_NBYTES);
	if (in->buf == NULL)
		return in->status = HATF_NO_MEMORY;
	in->next = in->end = in->buf;
	/* A pipe may hand out the two bytes one by one. */
	while (used < 2 && !in->file_ended)
		used += read_file(in, in->buf + used, INPUT_BUF_NBYTES - used);
	in->end = in->buf + used;
	in->compressed =
		used >= 2 && in->buf[0] == GZIP_ID1 && in->buf[1] == GZIP_ID2;
	if (in->compressed) {
		if (inflateInit2(&in->zlib, GZIP_WINDOW_BITS) != Z_OK)
			return in->status = HATF_NO_MEMORY;
		in->zlib_in_use = true;
	}
	if (in->status == HATF_IO && used == 0)
		return HATF_IO;
	/* What is in the buffer comes before the end that followed it. */
	return HATF_OK;
}

static size_t
read_plain(struct input *in, uint8_t *to, size_t nbytes)
{
	const size_t left = (size_t)(in->end - in->next);
	const size_t n = nbytes < left ? nbytes : left;

	if (left == 0)
		return in->file_ended ? 0 : read_file(in, to, nbytes);
	memcpy(to, in->next, n);
	in->next += n;
	return n;
}

/* What the end of the file means where it was met. */
static void
end_compressed(struct input *in)
{
	if (in->status == HATF_END && in->in_member)
		in->status = HATF_TRUNCATED;
}

/*
 * One call of inflate(); false if the reading ends here.  Bytes that come out
 * together with an error precede the damage and count.
 */
static bool
inflate_some(struct input *in)
{
	z_stream *const z = &in->zlib;
	int result;

	z->next_in = in->next;
	z->avail_in = (uInt)(in->end - in->next);
	result = inflate(z, Z_SYNC_FLUSH);
	in->next = z->next_in;
	if (result == Z_STREAM_END) {
		in->in_member = false;
		result = inflateReset(z);
	}
	if (result == Z_OK || result == Z_BUF_ERROR)
		return true;
	in->status =
		result == Z_MEM_ERROR ? HATF_NO_MEMORY : HATF_BAD_COMPRESSION;
	return false;
}

/* Get more of the file; false at its end. */
static bool
refill(struct input *in)
{
	if (in->next != in->end)
		return true;
	if (in->file_ended)
		return false;
	in->next = in->end = in->buf;
	in->end += read_file(in, in->buf, INPUT_BUF_NBYTES);
	return in->next != in->end;
}

static size_t
read_compressed(struct input *in, uint8_t *to, size_t nbytes)
{
	const uInt room = nbytes < INT32_MAX ? (uInt)nbytes : INT32_MAX;

	in->zlib.next_out = to;
	in->zlib.avail_out = room;
	while (in->zlib.avail_out == room) {
		const bool more = refill(in);

		if (!in->in_member) {
			if (!more)
				break;
			/* Zeros or a second file: zlib would want two bytes. */
			if (*in->next != GZIP_ID1) {
				in->status = HATF_BAD_COMPRESSION;
				break;
			}
			in->in_member = true;
		}
		/* Without more input, zlib may still hold back output. */
		if (!inflate_some(in))
			break;
		if (!more && in->zlib.avail_out == room) {
			end_compressed(in);
			break;
		}
	}
	return room - in->zlib.avail_out;
}

size_t
input_read(struct input *in, uint8_t *to, size_t nbytes)
{
	if (!in->compressed)
		return read_plain(in, to, nbytes);
	if (in->status != HATF_OK && in->status != HATF_END &&
	    in->status != HATF_IO)
		return 0;
	return read_compressed(in, to, nbytes);
}

uint64_t
input_consumed(const struct input *in)
{
	return in->file_nbytes - (uint64_t)(in->end - in->next);
}

void
input_fini(struct input *in)
{
	if (in->zlib_in_use)
		inflateEnd(&in->zlib);
	free(in->buf);
	in->buf = NULL;
}
