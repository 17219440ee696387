/* SPDX-License-Identifier: MIT */
/*
 * frame_reader.h - zstd and lz4 frames into bytes, some at a time
 *
 * Traces of other systems often come as frames of zstd or lz4, one or more of them
 * one behind the other.  A library that the build does not have is no error until
 * a file wants it.
 *
 * The library is given what it asks for and no more, which is one of a frame's
 * blocks: so what comes before damage comes out before the error.  Memory is what
 * the format allows: FRAME_WINDOW_LOG_MAX for zstd, 4 MiB a block for lz4.
 */
#ifndef HATF_FRAME_READER_H
#define HATF_FRAME_READER_H

#include "hatf/hatf.h"

/* A frame that wants a larger window is refused.  No level wants more, unless it is
 * told to; a hostile one could make a reader take 2 GiB. */
#define FRAME_WINDOW_LOG_MAX 27

enum frame_kind {
	FRAME_NONE,
	FRAME_ZSTD,
	FRAME_LZ4,
};

/* As many of the first bytes tell which of them it is, or how long what is skipped. */
#define FRAME_PREFIX_NBYTES 8

enum frame_kind frame_kind_recognise(const uint8_t *bytes, size_t nbytes);

/*
 * How long the frame that begins these bytes is, if it is one to be skipped, else 0.
 * Both libraries skip it; which of them is wanted, what comes behind it tells.
 */
uint64_t frame_skip_nbytes(const uint8_t *bytes, size_t nbytes);

/* "zstd", "lz4" or NULL; static. */
const char *frame_kind_name(enum frame_kind kind);

struct frame_reader;

/*
 * Begin to read.  Errors: HATF_NO_LIBRARY, HATF_NO_MEMORY.
 */
enum hatf_status frame_reader_open(enum frame_kind kind,
				   struct frame_reader **frames_ret);
void frame_reader_close(struct frame_reader *f); /* NULL is allowed */

/*
 * Turn bytes from '*next' on into up to 'room' bytes at 'to', and return how many;
 * '*next' goes to where the next ones are to come from.  0 without an error says
 * that more input is wanted, or that there was none and there is nothing left of
 * what went before.  Errors: HATF_BAD_COMPRESSION, HATF_LIMIT (the window),
 * HATF_NO_MEMORY; nothing may be read after one.
 */
size_t frame_reader_read(struct frame_reader *f, const uint8_t **next,
			 const uint8_t *end, uint8_t *to, size_t room,
			 enum hatf_status *status_ret);

/* Would a file that ends here be cut off? */
bool frame_reader_is_inside(const struct frame_reader *f);

#endif /* HATF_FRAME_READER_H */
