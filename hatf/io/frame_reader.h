/* SPDX-License-Identifier: MIT */
/*
 * frame_reader.h - decompress frames of zstd or lz4, piece by piece
 *
 * Traces of other tools often consist of one or more zstd or lz4 frames.  If
 * the library for one of these formats was missing at build time, only files in
 * this format cannot be read.
 *
 * A reader passes to the library no more input than the library asks for, which
 * is one block of a frame.  So the reader returns all data before a damaged
 * block, and then the error.  The memory is bounded: the window of zstd has at
 * most 2^FRAME_WINDOW_LOG_MAX bytes, and a block of lz4 at most 4 MiB.
 *
 * Only one thread at a time may use a reader.
 */
#ifndef HATF_FRAME_READER_H
#define HATF_FRAME_READER_H

#include "hatf/hatf.h"

/*
 * The largest window that is allowed (log2).  A compressor makes a larger
 * window only if its user asks for one.  Without this limit, an attacker's
 * frame could make a reader allocate 2 GiB.
 */
#define FRAME_WINDOW_LOG_MAX 27

/* The formats of frames. */
enum frame_kind {
	FRAME_NONE,
	FRAME_ZSTD,
	FRAME_LZ4,
};

/*
 * This many bytes from the start of a frame show its kind or, if the frame is
 * skippable, its length.
 */
#define FRAME_PREFIX_NBYTES 8

/*
 * Return the kind of frame that starts with these bytes; FRAME_NONE if no frame
 * does.  'bytes' should have FRAME_PREFIX_NBYTES bytes, unless the file is
 * shorter.  A skippable frame counts as FRAME_ZSTD.
 */
enum frame_kind frame_kind_recognize(const uint8_t *bytes, size_t nbytes);

/*
 * Return the length of the skippable frame that starts with these bytes, or 0
 * if no skippable frame does.  Both libraries skip such a frame; the next frame
 * shows which library is needed.
 */
uint64_t frame_skip_nbytes(const uint8_t *bytes, size_t nbytes);

/* Return "zstd", "lz4" or, for FRAME_NONE, NULL.  The string is static. */
const char *frame_kind_name(enum frame_kind kind);

struct frame_reader;

/*
 * Start to read frames of the kind 'kind'.  The caller closes the reader.
 * Errors: HATF_NO_LIBRARY, HATF_NO_MEMORY.
 */
enum hatf_status frame_reader_open(enum frame_kind kind,
				   struct frame_reader **reader_ret);
/* frees the reader; 'f' may be NULL */
void frame_reader_close(struct frame_reader *f);

/*
 * Decompress input from '*next' on.  Store at most 'room' bytes at 'to', and
 * return how many.  Advance '*next' past the input consumed.  A result of 0
 * without an error means that the reader needs more input or, if the call had
 * no input, that all data has been returned.  Errors: HATF_BAD_COMPRESSION,
 * HATF_LIMIT (the window is too large), HATF_NO_MEMORY.  Do not call the
 * function again after an error.
 */
size_t frame_reader_read(struct frame_reader *f, const uint8_t **next,
			 const uint8_t *end, uint8_t *to, size_t room,
			 enum hatf_status *status_ret);

/* Is the reader inside a frame?  If so, a file that ends here is truncated. */
bool frame_reader_is_inside(const struct frame_reader *f);

#endif /* HATF_FRAME_READER_H */
