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
 * the format allows: FRAMES_WINDOW_LOG_MAX for zstd, 4 MiB a block for lz4.
 */
#ifndef HATF_FRAMES_H
#define HATF_FRAMES_H

#include "hatf/hatf.h"

/* A frame that wants a larger window is refused.  No level wants more, unless it is
 * told to; a hostile one could make a reader take 2 GiB. */
#define FRAMES_WINDOW_LOG_MAX 27

enum frames_kind {
	FRAMES_NONE,
	FRAMES_ZSTD,
	FRAMES_LZ4,
};

/* As many of the first bytes tell which of them it is, or how long what is skipped. */
#define FRAMES_PREFIX_NBYTES 8

enum frames_kind frames_recognise(const uint8_t *bytes, size_t nbytes);

/*
 * How long the frame that begins these bytes is, if it is one to be skipped, else 0.
 * Both libraries skip it; which of them is wanted, what comes behind it tells.
 */
uint64_t frames_skip_nbytes(const uint8_t *bytes, size_t nbytes);

/* "zstd", "lz4" or NULL; static. */
const char *frames_name(enum frames_kind kind);

struct frames;

/*
 * Begin to read.  Errors: HATF_NO_LIBRARY, HATF_NO_MEMORY.
 */
enum hatf_status frames_open(enum frames_kind kind, struct frames **frames_ret);
void frames_close(struct frames *f); /* NULL is allowed */

/*
 * Turn bytes from '*next' on into up to 'room' bytes at 'to', and return how many;
 * '*next' goes to where the next ones are to come from.  0 without an error says
 * that more input is wanted, or that there was none and there is nothing left of
 * what went before.  Errors: HATF_BAD_COMPRESSION, HATF_LIMIT (the window),
 * HATF_NO_MEMORY; nothing may be read after one.
 */
size_t frames_read(struct frames *f, const uint8_t **next, const uint8_t *end,
		   uint8_t *to, size_t room, enum hatf_status *status_ret);

/* Would a file that ends here be cut off? */
bool frames_is_inside(const struct frames *f);

#endif /* HATF_FRAMES_H */
