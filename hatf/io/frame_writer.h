/* SPDX-License-Identifier: MIT */
/*
 * frame_writer.h - bytes into one frame of zstd or lz4, some at a time
 *
 * The counterpart of frame_reader.h, for traces of systems that have their files so.  A
 * library that the build does not have is no error until a file wants it.  Used by
 * one thread at a time.
 */
#ifndef HATF_FRAME_WRITER_H
#define HATF_FRAME_WRITER_H

#include "hatf/io/frame_reader.h"

/* Room that frame_writer_put() and frame_writer_end() must be given. */
#define FRAME_WRITER_ROOM_NBYTES ((size_t)128 * 1024)

struct frame_writer;

/*
 * Begin a frame; 'level' is 1 (fast) to 9, or 0 for the library's default.  Errors:
 * HATF_NO_LIBRARY, HATF_NO_MEMORY.
 */
enum hatf_status frame_writer_open(enum frame_kind kind, int level,
				   struct frame_writer **writer_ret);
void frame_writer_close(struct frame_writer *s); /* NULL is allowed */

/*
 * Compress from '*next' on into 'to', which has FRAME_WRITER_ROOM_NBYTES, and move
 * '*next' to where the rest begins.  Returns how many bytes came out, which may be
 * none.  '*status_ret' becomes HATF_NO_MEMORY if that is so, for good.
 */
size_t frame_writer_put(struct frame_writer *s, const uint8_t **next,
			const uint8_t *end, uint8_t *to,
			enum hatf_status *status_ret);

/* Like frame_writer_put(), but end the frame: to be called until '*more_ret' is false. */
size_t frame_writer_end(struct frame_writer *s, uint8_t *to, bool *more_ret,
			enum hatf_status *status_ret);

#endif /* HATF_FRAME_WRITER_H */
