/* SPDX-License-Identifier: MIT */
/*
 * byte_sink.h - collect the bytes of a section in a temporary file
 *
 * Used by one thread at a time.
 */
#ifndef HATF_BYTE_SINK_H
#define HATF_BYTE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTE_SINK_NBYTES ((size_t)64 << 10)

struct byte_deflate;

struct byte_sink {
	int fd;			      /* the temporary file */
	struct byte_deflate *deflate; /* NULL: not compressed */
	uint64_t nbytes;	      /* bytes in the file */
	size_t used;
	uint8_t *buf;
	int sys_errno; /* errno of the first failed write, or 0 */
};

/*
 * Make the temporary file.  'level' is a level of zlib, 1 to 9; any other
 * number means 9.  Return false and set errno on failure.
 */
bool byte_sink_init(struct byte_sink *s, bool is_compressed, int level);
void byte_sink_fini(struct byte_sink *s);

/* Slow path of byte_sink_room(): empty the buffer. */
void byte_sink_flush(struct byte_sink *s);

void byte_sink_put(struct byte_sink *s, const uint8_t *bytes, size_t nbytes);

/* Return a pointer to room for 'nbytes' bytes, at most BYTE_SINK_NBYTES. */
static inline uint8_t *
byte_sink_room(struct byte_sink *s, size_t nbytes)
{
	if (BYTE_SINK_NBYTES - s->used < nbytes)
		byte_sink_flush(s);
	return s->buf + s->used;
}

/*
 * Write the buffered bytes to the file.  Call this after the last byte.  Return
 * false if any write failed.
 */
bool byte_sink_finish(struct byte_sink *s);

/* Write 'nbytes' bytes to a file.  Return 0 or an errno. */
int byte_sink_write(int fd, const uint8_t *bytes, size_t nbytes);

/* Copy the collected bytes to 'fd'.  Return 0 or an errno. */
int byte_sink_copy(struct byte_sink *s, int fd);

#endif /* HATF_BYTE_SINK_H */
