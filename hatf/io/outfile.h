/* SPDX-License-Identifier: MIT */
/*
 * outfile.h - write a file, plain or as one stream of gzip, zstd or lz4
 *
 * An outfile buffers bytes for write().  After the first failure, it discards
 * all later bytes, and outfile_finish() returns the status of this failure.  So
 * a caller may check once, at the end.  Used by one thread at a time.
 */
#ifndef HATF_OUTFILE_H
#define HATF_OUTFILE_H

#include "hatf/hatf.h"
#include "hatf/io/frame_writer.h"

#include <string.h>

#define ZLIB_CONST /* make zlib's next_in a pointer to const */
#include <zlib.h>

/* Maximum number of bytes that outfile_room() can provide at once. */
#define OUTFILE_ROOM_MAX (64 * 1024)

#define OUTFILE_NBYTES (2 * OUTFILE_ROOM_MAX)

/* The default level and the highest level, as in gzip(1). */
#define OUTFILE_LEVEL_DEFAULT 6
#define OUTFILE_LEVEL_MAX     9

struct outfile {
	/* descriptor to write to, owned by the caller; -1: not yet set */
	int fd;
	bool compressed;
	bool zlib_in_use;
	/* HATF_OK, or the status of the first failure */
	enum hatf_status status;
	int sys_errno;	       /* errno if 'status' is HATF_IO */
	size_t used;	       /* number of bytes in 'buf' */
	uint64_t taken_nbytes; /* number of bytes that have left 'buf' */
	uint64_t file_nbytes;  /* number of bytes written to 'fd' */
	uint8_t *buf;	       /* OUTFILE_NBYTES */
	/*
	 * buffer of OUTFILE_NBYTES for compressed bytes; NULL: no compression
	 */
	uint8_t *packed;
	z_stream zlib;
	/* the writer of zstd or lz4; NULL: zlib, or no compression */
	struct frame_writer *frame_writer;
};

/*
 * Prepare to write a file.  If 'compressed', use the library of 'kind'; for
 * FRAME_NONE, use zlib.  'level' is 1 to 9, or 0 for the library's default.
 * The caller sets o->fd before writing anything.  Errors: HATF_NO_MEMORY,
 * HATF_NO_LIBRARY.  Call outfile_fini() even after an error.
 */
enum hatf_status outfile_init(struct outfile *o, bool compressed,
			      enum frame_kind kind, int level);

/*
 * Write the contents of the buffer, or pass them to the compressor.  This is
 * the slow path of outfile_room().
 */
void outfile_drain(struct outfile *o);

/*
 * Return memory for the next 'nbytes' bytes, at most OUTFILE_ROOM_MAX.  The
 * caller stores bytes there, and then calls outfile_advance() with their
 * number.
 */
static inline uint8_t *
outfile_room(struct outfile *o, size_t nbytes)
{
	if (nbytes > OUTFILE_NBYTES - o->used)
		outfile_drain(o);
	return o->buf + o->used;
}

/* Append the 'nbytes' bytes that the caller has stored at outfile_room(). */
static inline void
outfile_advance(struct outfile *o, size_t nbytes)
{
	o->used += nbytes;
}

/* Append any number of bytes. */
void outfile_bytes(struct outfile *o, const void *bytes, size_t nbytes);

/* Return how many bytes were appended so far, before compression. */
static inline uint64_t
outfile_offset(const struct outfile *o)
{
	return o->taken_nbytes + o->used;
}

/*
 * Write everything and end the stream.  Call it once, at the end.  Return the
 * status of the first failure, or HATF_OK.
 */
enum hatf_status outfile_finish(struct outfile *o);

/* Free everything.  Write nothing, and do not close the descriptor. */
void outfile_fini(struct outfile *o);

#endif /* HATF_OUTFILE_H */
