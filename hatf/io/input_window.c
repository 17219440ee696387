/* SPDX-License-Identifier: MIT */
/*
 * input_window.c - see input_window.h
 */
#include "hatf/io/input_window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum hatf_status
input_window_init(struct input_window *w, int fd, unsigned jobs)
{
	const enum hatf_status status = input_init(&w->input, fd, jobs);

	w->end_offset = 0;
	w->buf = malloc(INPUT_WINDOW_NBYTES + 1);
	w->next = w->end = w->buf;
	if (w->buf == NULL)
		return status == HATF_OK ? HATF_NO_MEMORY : status;
	w->buf[0] = 0;
	return status;
}

bool
input_window_more(struct input_window *w)
{
	const size_t left = input_window_left(w);
	const size_t room = INPUT_WINDOW_NBYTES - left;
	size_t got;

	/*
	 * If the window were full, there would be no room to read more, and the
	 * result would look like the end of the input.
	 */
	assert(left < INPUT_WINDOW_NBYTES);
	if (left != 0 && w->next != w->buf)
		memmove(w->buf, w->next, left);
	w->next = w->buf;
	got = input_read(&w->input, w->buf + left,
			 room < INPUT_WINDOW_READ_NBYTES
				 ? room
				 : INPUT_WINDOW_READ_NBYTES);
	w->buf[left + got] = 0;
	w->end = w->buf + left + got;
	w->end_offset += got;
	return got != 0;
}

size_t
input_window_fill(struct input_window *w, size_t nbytes)
{
	while (input_window_left(w) < nbytes && input_window_more(w))
		;
	return input_window_left(w);
}

void
input_window_fini(struct input_window *w)
{
	input_fini(&w->input);
	free(w->buf);
}
