/* SPDX-License-Identifier: MIT */
/*
 * byte_source.h - the bytes of a part of a file, compressed or not
 *
 * Several sources may read the same file at the same time, because each reads
 * at its own offset.  A source allocates 68 KiB; for a compressed part, it
 * allocates 64 KiB more and zlib's state.  Used by one thread at a time.
 */
#ifndef HATF_BYTE_SOURCE_H
#define HATF_BYTE_SOURCE_H

#include "hatf/metatf/trace/mtf_error.h"

#include <stddef.h>

/* Maximum number of bytes that byte_source_need() can provide. */
#define BYTE_SOURCE_NEED_NBYTES ((size_t)4096)

struct byte_inflate;

struct byte_source {
	int fd;			      /* the caller keeps it open */
	uint64_t offset, end_offset;  /* the unread part of the file */
	struct byte_inflate *inflate; /* NULL: the part is not compressed */
	uint8_t *buf;
	const uint8_t *next, *end;
	/* Position of 'end', in the units of byte_source_position(). */
	uint64_t end_position;
	/* A read failed, or the compressed data is damaged. */
	bool has_failed;
	const char *failure; /* the reason; NULL: see errno */
};

/*
 * Begin to read 'nbytes' bytes of 'fd' from 'offset' on.  If 'is_compressed' is
 * true, these bytes are a gzip stream.  Return false if there is no memory.
 */
bool byte_source_init(struct byte_source *s, int fd, uint64_t offset,
		      uint64_t nbytes, bool is_compressed);
void byte_source_fini(struct byte_source *s);

/*
 * Return the position of the next byte: an offset in the file or, if the part
 * is compressed, the number of decompressed bytes before that byte.
 */
uint64_t byte_source_position(const struct byte_source *s);

/* Slow path of byte_source_need(). */
bool byte_source_fill(struct byte_source *s, size_t nbytes);

/*
 * Make 'nbytes' bytes available at 'next'.  Return false if fewer bytes are
 * left, or if reading them fails, which sets 'has_failed'.
 */
static inline bool
byte_source_need(struct byte_source *s, size_t nbytes)
{
	return (size_t)(s->end - s->next) >= nbytes ||
	       byte_source_fill(s, nbytes);
}

/*
 * Skip the bytes that are left, to verify the checksum at the end of compressed
 * data.  Return false if reading fails, or if the data is damaged.
 */
bool byte_source_drain(struct byte_source *s);

/* Copy any number of bytes.  Return false if fewer are left, or on failure. */
bool byte_source_copy(struct byte_source *s, uint8_t *to, size_t nbytes);

#endif /* HATF_BYTE_SOURCE_H */
