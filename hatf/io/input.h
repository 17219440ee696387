/* SPDX-License-Identifier: MIT */
/*
 * input.h - the bytes of a trace, compressed or not
 *
 * An input reads a file, pipe or terminal that contains a trace, and returns
 * the bytes of the trace.  The trace may be compressed as gzip members or as
 * frames of zstd or lz4.  The first bytes show the compression, because no
 * plain trace begins like a gzip member (1f 8b) or like a frame of
 * frame_reader.h.
 *
 * An input decompresses a member that contains its length (FORMAT
 * "Compression") as a whole, which is much faster than piece by piece.  If the
 * caller allows threads, they decompress such members ahead of the reader, in
 * the queue 'ahead'.  All other members, and damaged ones, go through zlib's
 * streams, which return every byte before the damage.
 *
 * An input allocates a buffer of INPUT_BUF_NBYTES.  For gzip, it also allocates
 * memory for the data of one member, the states of zlib and inflate.h, and the
 * queue of inflate_ahead.h; for frames, a frame_reader.  Used by one thread at
 * a time.
 *
 * An input reads a regular file only up to the length that the file has when
 * input_init() is called.  Otherwise the input might never end, because a
 * program may append to its trace faster than a reader reads.
 *
 * Invariant: before input_read() reports damage or the end of the file, it has
 * returned every byte before this point that can be recovered.
 */
#ifndef HATF_INPUT_H
#define HATF_INPUT_H

#include "hatf/hatf.h"
#include "hatf/io/frame_reader.h"

#define ZLIB_CONST /* make zlib's next_in a pointer to const */
#include <zlib.h>

/*
 * Size of 'buf': room for a compressed member of INFLATE_AHEAD_MEMBER_NBYTES.
 */
#define INPUT_BUF_NBYTES (512 * 1024)

struct inflate_ahead;
struct inflate;

struct input {
	int fd; /* descriptor to read from, owned by the caller */
	bool compressed;
	bool in_member; /* zlib has read a part of a gzip member */
	bool file_ended;
	bool is_regular; /* 'fd' is a regular file */
	bool zlib_in_use;
	/*
	 * the length or data of a member was wrong, so use only zlib's streams
	 * from then on
	 */
	bool ignores_lengths;
	/*
	 * the member at the front of 'ahead' is in use: if 'ignores_lengths' is
	 * set, 'next' points to its compressed bytes; otherwise, 'data_next'
	 * points to its decompressed data
	 */
	bool from_ahead;
	int sys_errno; /* errno if 'status' is HATF_IO */
	/*
	 * HATF_OK, or the reason why the input ends; input_read() may still
	 * have bytes to return when this is set
	 */
	enum hatf_status status;
	unsigned jobs;	      /* number of threads of 'ahead'; 0: none */
	uint64_t file_nbytes; /* bytes read from 'fd' */
	uint64_t limit;	      /* maximum of 'file_nbytes' */
	uint64_t out_nbytes;  /* bytes decompressed and returned */
	uint8_t *buf;
	/*
	 * the bytes that are not consumed, in 'buf' or in a member of 'ahead'
	 */
	const uint8_t *next, *end;
	/*
	 * while 'next' and 'end' point to a member of 'ahead': the bytes of
	 * 'buf' that are not consumed
	 */
	const uint8_t *buf_next, *buf_end;
	/* memory for the data of a member */
	uint8_t *data;
	/* the part of a member's data that is not returned yet */
	const uint8_t *data_next, *data_end;
	z_stream zlib;
	struct inflate *inflate;
	struct inflate_ahead *ahead;
	/* kind of frames; FRAME_NONE: gzip, or no compression */
	enum frame_kind kind;
	struct frame_reader *frame_reader;
};

/*
 * Start to read from 'fd', which the caller closes, and recognize the
 * compression.  'jobs' is the number of threads that may decompress ahead.
 * Errors: HATF_NO_MEMORY, HATF_IO, HATF_NO_LIBRARY.  Call input_fini() even
 * after an error.
 */
enum hatf_status input_init(struct input *in, int fd, unsigned jobs);

/*
 * Read at least one and at most 'nbytes' bytes into 'to'.  'nbytes' must not be
 * 0.  Return how many bytes were read, or 0 if there are no more.  After a
 * result of 0, in->status is the reason, and every later call has the same
 * result:
 *
 *   HATF_END             the file ends, and not inside a member or frame
 *   HATF_TRUNCATED       the file ends inside a gzip member or a frame
 *   HATF_BAD_COMPRESSION a member or frame is damaged, or other data follows it
 *   HATF_LIMIT           the data is far longer than its file, or a frame needs
 *                        too much memory (FORMAT "Limits")
 *   HATF_NO_MEMORY       there is no memory for zlib or the frames
 *   HATF_IO              read() failed, see in->sys_errno
 */
size_t input_read(struct input *in, uint8_t *to, size_t nbytes);

/*
 * Some formats compress parts of a file, such as the pieces of Split Stream.
 * Is it plausible that the parts read so far unpack to 'nbytes' bytes in all?
 * The limit depends on how much of the file has been consumed (FORMAT
 * "Limits").  Without this limit, a small file that is compressed twice could
 * keep a reader busy for days.
 */
bool input_may_unpack(const struct input *in, uint64_t nbytes);

/*
 * Return "gzip", "zstd" or "lz4", as a static string; NULL if the input is not
 * compressed.
 */
const char *input_compression(const struct input *in);

/* Return how many bytes of the file have been consumed. */
uint64_t input_consumed(const struct input *in);

/* Stop the threads and free everything.  Do not close the descriptor. */
void input_fini(struct input *in);

#endif /* HATF_INPUT_H */
