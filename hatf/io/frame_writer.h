/* SPDX-License-Identifier: MIT */
/*
 * frame_writer.h - bytes into one frame of zstd or lz4, some at a time
 *
 * The counterpart of frame_reader.h, for traces of systems that have their files so.  A
 * library that the build does not have is no error until a file wants it.  Used by
 * one thread at a time.
 */
#ifndef HATF_STREAMER_H
#define HATF_STREAMER_H

#include "hatf/io/frame_reader.h"

/* Room that streamer_put() and streamer_end() must be given. */
#define STREAMER_ROOM_NBYTES ((size_t)128 * 1024)

struct streamer;

/*
 * Begin a frame; 'level' is 1 (fast) to 9, or 0 for the library's default.  Errors:
 * HATF_NO_LIBRARY, HATF_NO_MEMORY.
 */
enum hatf_status streamer_open(enum frames_kind kind, int level,
			       struct streamer **streamer_ret);
void streamer_close(struct streamer *s); /* NULL is allowed */

/*
 * Compress from '*next' on into 'to', which has STREAMER_ROOM_NBYTES, and move
 * '*next' to where the rest begins.  Returns how many bytes came out, which may be
 * none.  '*status_ret' becomes HATF_NO_MEMORY if that is so, for good.
 */
size_t streamer_put(struct streamer *s, const uint8_t **next,
		    const uint8_t *end, uint8_t *to,
		    enum hatf_status *status_ret);

/* Like streamer_put(), but end the frame: to be called until '*more_ret' is false. */
size_t streamer_end(struct streamer *s, uint8_t *to, bool *more_ret,
		    enum hatf_status *status_ret);

#endif /* HATF_STREAMER_H */
