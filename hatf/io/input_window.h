/* SPDX-License-Identifier: MIT */
/*
 * input_window.h - a sliding window over the bytes of a trace
 *
 * The window is a buffer of fixed size that 'input' fills.  The bytes that are
 * not consumed yet are contiguous.  Only input_window_more() and
 * input_window_fill() move them, so pointers to them are valid until the next
 * call of one of these functions.
 *
 * 	buf            next                 end            INPUT_WINDOW_NBYTES
 * 	| consumed     | to be consumed     | room         |
 *
 * '*end' is always 0, so a loop that skips digits stops there without another
 * check.  Used by one thread at a time.
 */
#ifndef HATF_INPUT_WINDOW_H
#define HATF_INPUT_WINDOW_H

#include "hatf/io/input.h"

/*
 * Size of the window.  It has room for the longest record of every format, even
 * of JSON, which takes up to 6 bytes for one byte of a record.
 */
#define INPUT_WINDOW_NBYTES (512 * 1024)

/*
 * Maximum number of bytes that are read at once: enough that moving an
 * incomplete record to the front costs little, and few enough to stay in the
 * second-level cache.  If there are no long records, the rest of the window is
 * hardly touched.
 */
#define INPUT_WINDOW_READ_NBYTES (256 * 1024)

struct input_window {
	struct input input;
	uint8_t *buf;
	const uint8_t *next, *end;
	uint64_t end_offset; /* offset of 'end' in the uncompressed stream */
};

/*
 * Start to read from 'fd', which the caller closes.  Up to 'jobs' threads
 * decompress ahead of the reader.  Errors: those of input_init().  Call
 * input_window_fini() even after an error.
 */
enum hatf_status input_window_init(struct input_window *w, int fd,
				   unsigned jobs);

/*
 * Move the unconsumed bytes to the front and read more bytes after them.
 * Precondition: the unconsumed bytes do not fill the window.  Return false if
 * the input has ended; w->input.status is the reason.
 */
bool input_window_more(struct input_window *w);

/*
 * Read until at least 'nbytes' bytes (at most INPUT_WINDOW_NBYTES) are
 * unconsumed.  Return how many are unconsumed; this is less than 'nbytes' only
 * if the input ends.
 */
size_t input_window_fill(struct input_window *w, size_t nbytes);

/* Return the number of unconsumed bytes. */
static inline size_t
input_window_left(const struct input_window *w)
{
	return (size_t)(w->end - w->next);
}

/* Return the offset of w->next in the uncompressed stream. */
static inline uint64_t
input_window_offset(const struct input_window *w)
{
	return w->end_offset - input_window_left(w);
}

/* Free the window and its input.  Do not close the descriptor. */
void input_window_fini(struct input_window *w);

#endif /* HATF_INPUT_WINDOW_H */
