/* SPDX-License-Identifier: MIT */
/* byte_source.c - see byte_source.h */
#include "hatf/metatf/trace/byte_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZLIB_CONST /* make next_in point to const */
#include <zlib.h>

#define BUF_NBYTES ((size_t)64 << 10)

struct byte_inflate {
	z_stream zlib;
	bool has_ended;
	uint8_t in[BUF_NBYTES];
};

static bool
begin_inflate(struct byte_source *s)
{
	s->inflate = calloc(1, sizeof(*s->inflate));
	if (s->inflate == NULL)
		return false;
	/* The window bits 31 stand for the largest window and a gzip header. */
	if (inflateInit2(&s->inflate->zlib, 31) == Z_OK)
		return true;
	free(s->inflate);
	s->inflate = NULL;
	return false;
}

bool
byte_source_init(struct byte_source *s, int fd, uint64_t offset,
		 uint64_t nbytes, bool is_compressed)
{
	*s = (struct byte_source){
		.fd = fd,
		.offset = offset,
		.end_offset = offset + nbytes,
		.buf = malloc(BUF_NBYTES + BYTE_SOURCE_NEED_NBYTES),
		.end_position = is_compressed ? 0 : offset,
	};
	s->next = s->end = s->buf;
	if (s->buf != NULL && (!is_compressed || begin_inflate(s)))
		return true;
	byte_source_fini(s);
	return false;
}

void
byte_source_fini(struct byte_source *s)
{
	if (s->inflate != NULL)
		inflateEnd(&s->inflate->zlib);
	free(s->inflate);
	free(s->buf);
	*s = (struct byte_source){ 0 };
}

uint64_t
byte_source_position(const struct byte_source *s)
{
	return s->end_position - (uint64_t)(s->end - s->next);
}

/* Read bytes of the file.  Return 0 at the end and on failure. */
static size_t
read_file(struct byte_source *s, uint8_t *to, size_t most)
{
	const uint64_t left = s->end_offset - s->offset;
	ssize_t n;

	if (left < most)
		most = (size_t)left;
	do
		n = pread(s->fd, to, most, (off_t)s->offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		s->has_failed = true;
	else
		s->offset += (uint64_t)n;
	return n > 0 ? (size_t)n : 0;
}

/*
 * Decompress up to 'most' bytes.  Return the number of decompressed bytes, 0 at
 * the end.  On failure, set 'has_failed', and return the number of bytes that
 * were decompressed before the failure.
 */
static size_t
read_compressed(struct byte_source *s, uint8_t *to, size_t most)
{
	struct byte_inflate *const z = s->inflate;
	int result = Z_OK;

	z->zlib.next_out = to;
	z->zlib.avail_out = (uInt)most;
	while (z->zlib.avail_out == most && !z->has_ended && result == Z_OK) {
		if (z->zlib.avail_in == 0) {
			z->zlib.next_in = z->in;
			z->zlib.avail_in =
				(uInt)read_file(s, z->in, sizeof(z->in));
			if (z->zlib.avail_in == 0)
				break;
		}
		result = inflate(&z->zlib, Z_NO_FLUSH);
		z->has_ended = result == Z_STREAM_END;
	}
	if (result != Z_OK && result != Z_STREAM_END) {
		s->has_failed = true;
		s->failure = "the compressed data is damaged";
	} else if (z->zlib.avail_out == most && !z->has_ended &&
		   z->zlib.total_in != 0 && !s->has_failed) {
		s->has_failed = true;
		s->failure = "the compressed data ends too early";
	}
	return most - z->zlib.avail_out;
}

bool
byte_source_fill(struct byte_source *s, size_t nbytes)
{
	size_t kept = (size_t)(s->end - s->next);

	memmove(s->buf, s->next, kept);
	s->next = s->buf;
	s->end = s->buf + kept;
	while (kept < nbytes && !s->has_failed) {
		uint8_t *const to = s->buf + kept;
		const size_t n = s->inflate != NULL
					 ? read_compressed(s, to, BUF_NBYTES)
					 : read_file(s, to, BUF_NBYTES);

		if (n == 0)
			return false;
		kept += n;
		s->end = s->buf + kept;
		s->end_position += n;
	}
	return kept >= nbytes;
}

bool
byte_source_drain(struct byte_source *s)
{
	do
		s->next = s->end;
	while (byte_source_need(s, 1));
	return !s->has_failed;
}

bool
byte_source_copy(struct byte_source *s, uint8_t *to, size_t nbytes)
{
	while (nbytes != 0) {
		const size_t there = (size_t)(s->end - s->next);
		const size_t n = there < nbytes ? there : nbytes;

		if (n == 0) {
			if (!byte_source_need(s, 1))
				return false;
			continue;
		}
		memcpy(to, s->next, n);
		s->next += n;
		to += n;
		nbytes -= n;
	}
	return true;
}
