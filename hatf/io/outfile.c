/* SPDX-License-Identifier: MIT */
/*
 * outfile.c - see outfile.h
 */
#include "hatf/io/outfile.h"

#include "hatf/io/try_again.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * zlib's default memory level, and its window bits for "gzip, largest window".
 */
#define MEMORY_LEVEL	 8
#define GZIP_WINDOW_BITS (16 + MAX_WBITS)

enum hatf_status
outfile_init(struct outfile *o, bool compressed, enum frame_kind kind,
	     int level)
{
	*o = (struct outfile){ .fd = -1, .compressed = compressed };
	o->buf = malloc(OUTFILE_NBYTES);
	if (o->buf == NULL)
		return o->status = HATF_NO_MEMORY;
	if (!compressed)
		return HATF_OK;
	o->packed = malloc(OUTFILE_NBYTES);
	if (o->packed == NULL)
		return o->status = HATF_NO_MEMORY;
	if (kind != FRAME_NONE)
		return o->status =
			       frame_writer_open(kind, level, &o->frame_writer);
	if (deflateInit2(&o->zlib, level == 0 ? OUTFILE_LEVEL_DEFAULT : level,
			 Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return o->status = HATF_NO_MEMORY;
	o->zlib_in_use = true;
	return HATF_OK;
}

/* Write all bytes, with as many calls of write() as necessary. */
static void
write_all(struct outfile *o, const uint8_t *p, size_t nbytes)
{
	while (nbytes != 0 && o->status == HATF_OK) {
		const ssize_t n = write(o->fd, p, nbytes);

		if (n < 0 && try_again(o->fd, POLLOUT))
			continue;
		if (n < 0) {
			o->status = HATF_IO;
			o->sys_errno = errno;
			return;
		}
		p += n;
		nbytes -= (size_t)n;
		o->file_nbytes += (uint64_t)n;
	}
}

_Static_assert(OUTFILE_NBYTES >= FRAME_WRITER_ROOM_NBYTES,
	       "'packed' must have room for what a frame_writer stores");

/* Compress 'nbytes' bytes with zlib and write the result. */
static void
compress_gzip(struct outfile *o, const uint8_t *p, size_t nbytes, int flush)
{
	z_stream *const z = &o->zlib;

	z->next_in = p;
	z->avail_in = (uInt)nbytes;
	do {
		z->next_out = o->packed;
		z->avail_out = OUTFILE_NBYTES;
		deflate(z, flush);
		write_all(o, o->packed, OUTFILE_NBYTES - z->avail_out);
	} while (z->avail_out == 0);
}

/* Compress bytes into a frame of zstd or lz4, and write the result. */
static void
compress_frame(struct outfile *o, const uint8_t *p, size_t nbytes, int flush)
{
	const uint8_t *const end = p + nbytes;
	enum hatf_status status = HATF_OK;
	bool more = flush == Z_FINISH;

	while (p != end && status == HATF_OK) {
		const size_t n = frame_writer_put(o->frame_writer, &p, end,
						  o->packed, &status);

		write_all(o, o->packed, n);
	}
	while (more && status == HATF_OK) {
		const size_t n = frame_writer_end(o->frame_writer, o->packed,
						  &more, &status);

		write_all(o, o->packed, n);
	}
	if (o->status == HATF_OK)
		o->status = status;
}

/* Write bytes, compressed if the file is compressed, and count them. */
static void
put(struct outfile *o, const uint8_t *p, size_t nbytes, int flush)
{
	if (o->frame_writer != NULL)
		compress_frame(o, p, nbytes, flush);
	else if (o->compressed)
		compress_gzip(o, p, nbytes, flush);
	else
		write_all(o, p, nbytes);
	o->taken_nbytes += nbytes;
}

void
outfile_drain(struct outfile *o)
{
	put(o, o->buf, o->used, Z_NO_FLUSH);
	o->used = 0;
}

void
outfile_bytes(struct outfile *o, const void *bytes, size_t nbytes)
{
	const uint8_t *p = bytes;

	while (nbytes != 0) {
		const size_t n =
			nbytes < OUTFILE_ROOM_MAX ? nbytes : OUTFILE_ROOM_MAX;

		memcpy(outfile_room(o, n), p, n);
		o->used += n;
		p += n;
		nbytes -= n;
	}
}

enum hatf_status
outfile_finish(struct outfile *o)
{
	put(o, o->buf, o->used, Z_FINISH);
	o->used = 0;
	return o->status;
}

void
outfile_fini(struct outfile *o)
{
	if (o->zlib_in_use)
		deflateEnd(&o->zlib);
	free(o->buf);
	frame_writer_close(o->frame_writer);
	free(o->packed);
}
