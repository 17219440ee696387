/* SPDX-License-Identifier: MIT */
/*
 * frame_reader.h - decompress frames of zstd or lz4, piece by piece
 *
 * Traces of other tools often consist of one or more zstd or lz4 frames.  A
 * build without one of the libraries fails only when a file needs it.
 *
 * The library is given no more input than it asks for, which is one block of a
 * frame.  So all data before damage is returned before the error.  The format
 * bounds the memory: a window of 2^FRAME_WINDOW_LOG_MAX bytes for zstd, 4 MiB a
 * block for lz4.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_FRAME_READER_H
#define HATF_FRAME_READER_H

#include "hatf/hatf.h"

/*
 * The largest window allowed (log2).  No compression level needs a larger one
 * unless the user asks for it.  Without this limit a hostile frame could make a
 * reader allocate 2 GiB.
 */
#define FRAME_WINDOW_LOG_MAX 27

/* The formats of frames. */
enum frame_kind {
	FRAME_NONE,
	FRAME_ZSTD,
	FRAME_LZ4,
};

/*
 * The first bytes of a frame, enough to recognise its kind or, if it is
 * skippable, its length.
 */
#define FRAME_PREFIX_NBYTES 8

/*
 * Return the kind of frame that starts with these bytes, of which the caller
 * should have FRAME_PREFIX_NBYTES if the file has as many; FRAME_NONE if none.
 * A skippable frame counts as FRAME_ZSTD.
 */
enum frame_kind frame_kind_recognise(const uint8_t *bytes, size_t nbytes);

/*
 * Return the length of the skippable frame that starts with these bytes, or 0
 * if it is not skippable.  Both libraries skip such a frame; the next frame
 * shows which library is needed.
 */
uint64_t frame_skip_nbytes(const uint8_t *bytes, size_t nbytes);

/* Return "zstd", "lz4" or, for FRAME_NONE, NULL; static. */
const char *frame_kind_name(enum frame_kind kind);

struct frame_reader;

/*
 * Start to read.  The caller closes the reader.  Errors: HATF_NO_LIBRARY,
 * HATF_NO_MEMORY.
 */
enum hatf_status frame_reader_open(enum frame_kind kind,
				   struct frame_reader **reader_ret);
void frame_reader_close(struct frame_reader *f); /* NULL is allowed */

/*
 * Decompress bytes from '*next' on into at most 'room' bytes at 'to', and
 * return their number.  Advance '*next' past the consumed input.  If the result
 * is 0 without an error, the reader needs more input; if there was no input,
 * all data has been returned.  Errors: HATF_BAD_COMPRESSION, HATF_LIMIT (the
 * window is too large), HATF_NO_MEMORY.  Do not call again after an error.
 */
size_t frame_reader_read(struct frame_reader *f, const uint8_t **next,
			 const uint8_t *end, uint8_t *to, size_t room,
			 enum hatf_status *status_ret);

/* Would a file that ends here be truncated? */
bool frame_reader_is_inside(const struct frame_reader *f);

#endif /* HATF_FRAME_READER_H */
