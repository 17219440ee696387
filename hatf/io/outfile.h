/* SPDX-License-Identifier: MIT */
/*
 * outfile.h - bytes into a file, as they are or as one stream of gzip, zstd or lz4
 *
 * A buffer in front of write().  The first failure is kept, and what is written
 * after it goes nowhere, so that a caller may check late.  Used by one thread
 * at a time.
 */
#ifndef HATF_OUTFILE_H
#define HATF_OUTFILE_H

#include "hatf/hatf.h"
#include "hatf/io/frame_writer.h"

#include <string.h>

#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

/* The most that outfile_room() gives at once. */
#define OUTFILE_ROOM_MAX (64 * 1024)

#define OUTFILE_NBYTES (2 * OUTFILE_ROOM_MAX)

/* What gzip(1) has. */
#define OUTFILE_LEVEL_DEFAULT 6
#define OUTFILE_LEVEL_MAX     9

struct outfile {
	int fd; /* the caller's; -1 until there is one */
	bool compressed;
	bool zlib_in_use;
	enum hatf_status status; /* HATF_OK, or that of the first failure */
	int sys_errno;		 /* of HATF_IO */
	size_t used;		 /* bytes in 'buf' */
	uint64_t taken_nbytes;	 /* that have left 'buf' */
	uint64_t file_nbytes;	 /* written to 'fd' */
	uint8_t *buf;		 /* OUTFILE_NBYTES */
	uint8_t *packed;	 /* OUTFILE_NBYTES; NULL if not compressed */
	z_stream zlib;
	struct frame_writer *streamer; /* in place of zlib, unless NULL */
};

/*
 * Prepare for a file; if 'compressed', by zlib or, unless FRAME_NONE, the library
 * of 'kind' at 'level': 1 to 9, 0 for its default.  The owner sets o->fd before
 * anything is written.  Errors: HATF_NO_MEMORY, HATF_NO_LIBRARY.  Needs
 * outfile_fini() whatever the result.
 */
enum hatf_status outfile_init(struct outfile *o, bool compressed,
			      enum frame_kind kind, int level);

/* What outfile_room() does when the buffer has no room. */
void outfile_drain(struct outfile *o);

/*
 * Where the next 'nbytes' bytes, at most OUTFILE_ROOM_MAX, may be written.
 * outfile_advance() says how many have been.
 */
static inline uint8_t *
outfile_room(struct outfile *o, size_t nbytes)
{
	if (nbytes > OUTFILE_NBYTES - o->used)
		outfile_drain(o);
	return o->buf + o->used;
}

static inline void
outfile_advance(struct outfile *o, size_t nbytes)
{
	o->used += nbytes;
}

/* Any number of bytes. */
void outfile_bytes(struct outfile *o, const void *bytes, size_t nbytes);

/* Bytes that have been put in, before compression. */
static inline uint64_t
outfile_offset(const struct outfile *o)
{
	return o->taken_nbytes + o->used;
}

/* Write everything, and end the stream; to be called once, at the end. */
enum hatf_status outfile_finish(struct outfile *o);

void outfile_fini(struct outfile *o);

#endif /* HATF_OUTFILE_H */
