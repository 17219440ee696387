/* SPDX-License-Identifier: MIT */
/*
 * frame_writer.h - compress bytes into one frame of zstd or lz4, piece by piece
 *
 * The counterpart of frame_reader.h, for all formats that do not compress by
 * themselves.  A build may lack either library; frame_writer_open() then
 * returns HATF_NO_LIBRARY for its frames.  Used by one thread at a time.
 */
#ifndef HATF_FRAME_WRITER_H
#define HATF_FRAME_WRITER_H

#include "hatf/io/frame_reader.h"

/*
 * The room that frame_writer_put() and frame_writer_end() need in the output
 * buffer.
 */
#define FRAME_WRITER_ROOM_NBYTES ((size_t)128 * 1024)

struct frame_writer;

/*
 * Start a frame.  'level' is 1 (fast) to 9, or 0 for the library's default.
 * The caller closes the writer.  Errors: HATF_NO_LIBRARY, HATF_NO_MEMORY.
 */
enum hatf_status frame_writer_open(enum frame_kind kind, int level,
				   struct frame_writer **writer_ret);
/* frees the writer; 'w' may be NULL */
void frame_writer_close(struct frame_writer *w);

/*
 * Compress input from '*next' on and advance '*next' past the input consumed.
 * Store the compressed bytes at 'to', which must have room for
 * FRAME_WRITER_ROOM_NBYTES bytes, and return their number, which may be 0.  If
 * memory runs out, set '*status_ret' to HATF_NO_MEMORY; the caller may then
 * only close the writer.  Otherwise, leave '*status_ret' unchanged.
 */
size_t frame_writer_put(struct frame_writer *w, const uint8_t **next,
			const uint8_t *end, uint8_t *to,
			enum hatf_status *status_ret);

/*
 * Like frame_writer_put(), but without new input: store the last bytes of the
 * frame.  Call this function repeatedly until it sets '*more_ret' to false.
 */
size_t frame_writer_end(struct frame_writer *w, uint8_t *to, bool *more_ret,
			enum hatf_status *status_ret);

#endif /* HATF_FRAME_WRITER_H */
