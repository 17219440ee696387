/* SPDX-License-Identifier: MIT */
/*
 * input_window.h - the bytes of a trace, some at a time, one behind the other
 *
 * A window of fixed size over 'input': what is not consumed yet is contiguous,
 * and moves only when input_window_more() or input_window_fill() is called, so that what a
 * reader hands out may point into it until then.
 *
 *	buf            next                 end            INPUT_WINDOW_NBYTES
 *	| consumed     | to be consumed     | room         |
 *
 * '*end' is 0, room or not: what scans for a byte that is no digit needs no other
 * guard.
 */
#ifndef HATF_INPUT_WINDOW_H
#define HATF_INPUT_WINDOW_H

#include "hatf/io/input.h"

/* Holds the longest record of every format: JSON takes 6 bytes for one. */
#define INPUT_WINDOW_NBYTES (512 * 1024)

/*
 * What is read at once: enough that moving the piece of a record at the end costs
 * nothing.  More would leave the second-level cache; without long records, the
 * rest of the window is not touched.
 */
#define INPUT_WINDOW_READ_NBYTES (256 * 1024)

struct input_window {
	struct input input;
	uint8_t *buf;
	const uint8_t *next, *end;
	uint64_t end_offset; /* of 'end' in the uncompressed stream */
};

/*
 * Start to read from 'fd', which stays the caller's, with so many threads that
 * inflate ahead.  Errors: HATF_NO_MEMORY,
 * HATF_IO.  Needs input_window_fini() whatever the result.
 */
enum hatf_status input_window_init(struct input_window *w, int fd,
				   unsigned jobs);

/*
 * Move what is left to the front of the window, which must not be full with it,
 * and read on behind it.  False if there is nothing more to read:
 * w->input.status then says why.
 */
bool input_window_more(struct input_window *w);

/*
 * Read until at least 'nbytes' (at most INPUT_WINDOW_NBYTES) are left to be consumed.
 * Returns how many are: fewer only where the input ends.
 */
size_t input_window_fill(struct input_window *w, size_t nbytes);

/* Bytes that are there to be consumed. */
static inline size_t
input_window_left(const struct input_window *w)
{
	return (size_t)(w->end - w->next);
}

/* Of w->next, in the uncompressed stream. */
static inline uint64_t
input_window_offset(const struct input_window *w)
{
	return w->end_offset - input_window_left(w);
}

void input_window_fini(struct input_window *w);

#endif /* HATF_INPUT_WINDOW_H */
