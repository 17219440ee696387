/* SPDX-License-Identifier: MIT */
/*
 * input.h - the bytes of a trace, compressed or not
 *
 * Reads a file, pipe or terminal that contains a trace, plain or as gzip
 * members or as frames of zstd or lz4, and returns the bytes of the trace.  The
 * first bytes show the compression: no trace begins with 1f 8b, as gzip does,
 * or as frame_reader.h describes.
 *
 * Members that contain their length (FORMAT "Compression") are decompressed as
 * a whole, which is much faster, and by threads ahead of the reader if the
 * caller allows threads ('ahead').  All other members, and damaged ones, go
 * through zlib's streams, which return every byte before the damage.
 *
 * Memory is one buffer of INPUT_BUF_NBYTES, the data of one member, zlib's
 * state, and the memory of inflate_ahead.h, for every input.  Used by one
 * thread at a time.
 *
 * Invariant: every byte that can be recovered before damage or before the end
 * of the file is returned before the error that stops the reading.
 */
#ifndef HATF_INPUT_H
#define HATF_INPUT_H

#include "hatf/hatf.h"
#include "hatf/io/frame_reader.h"

#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

/* Has room for a member that is decompressed as a whole. */
#define INPUT_BUF_NBYTES (512 * 1024)

struct inflate_ahead;
struct inflate;

struct input {
	int fd; /* the caller's */
	bool compressed;
	bool in_member; /* zlib has part of a gzip member */
	bool file_ended;
	bool is_regular; /* 'fd' is a regular file */
	bool zlib_in_use;
	/* the length or data of a member was wrong: use zlib's streams only */
	bool ignores_lengths;
	/* 'next', 'data_next' point into the front of 'ahead' */
	bool from_ahead;
	int sys_errno;		 /* of HATF_IO */
	enum hatf_status status; /* HATF_OK until the input ends */
	unsigned jobs;		 /* number of threads; 0: none */
	uint64_t file_nbytes;	 /* read from 'fd' */
	uint64_t out_nbytes;	 /* decompressed and returned */
	uint8_t *buf;
	const uint8_t *next, *end; /* the rest of 'buf' */
	/* saved while 'next' is in 'ahead' */
	const uint8_t *buf_next, *buf_end;
	uint8_t *data;			     /* of a member */
	const uint8_t *data_next, *data_end; /* the rest of a member's data */
	z_stream zlib;
	struct inflate *inflate;
	struct inflate_ahead *ahead;
	enum frame_kind kind; /* FRAME_NONE: gzip, or not compressed */
	struct frame_reader *frame_reader;
};

/*
 * Start to read from 'fd', which the caller keeps, and recognise the
 * compression.  'jobs' is the number of threads that may decompress ahead.
 * Errors: HATF_NO_MEMORY, HATF_IO, HATF_NO_LIBRARY.  Call input_fini() even
 * after an error.
 */
enum hatf_status input_init(struct input *in, int fd, unsigned jobs);

/*
 * Read at least one and at most 'nbytes' bytes (which is not 0) into 'to'.
 * Return their number, or 0 if there are no more.  Then in->status is the
 * reason, which is the same for every later call:
 *
 *   HATF_END             the file ends between members
 *   HATF_TRUNCATED       the file ends inside a gzip member or a frame
 *   HATF_BAD_COMPRESSION a member or frame is damaged, or other data follows it
 *   HATF_LIMIT           the data is far longer than its file, or a frame needs
 *                        too much memory (FORMAT "Limits")
 *   HATF_NO_MEMORY       there is no memory for zlib or the frames
 *   HATF_IO              read() failed, see in->sys_errno
 */
size_t input_read(struct input *in, uint8_t *to, size_t nbytes);

/*
 * Return "gzip", "zstd", "lz4", or NULL if the input is not compressed; static.
 */
const char *input_compression(const struct input *in);

/* Return the number of bytes of the file that have been consumed. */
uint64_t input_consumed(const struct input *in);

/* Stop the threads and free everything; does not close the descriptor. */
void input_fini(struct input *in);

#endif /* HATF_INPUT_H */
