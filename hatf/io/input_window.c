/* SPDX-License-Identifier: MIT */
/*
 * input_window.c - see input_window.h
 */
#include "hatf/io/input_window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum hatf_status
window_init(struct window *w, int fd, unsigned jobs)
{
	const enum hatf_status status = input_init(&w->input, fd, jobs);

	w->end_offset = 0;
	w->buf = malloc(WINDOW_NBYTES + 1);
	w->next = w->end = w->buf;
	if (w->buf == NULL)
		return status == HATF_OK ? HATF_NO_MEMORY : status;
	w->buf[0] = 0;
	return status;
}

bool
window_more(struct window *w)
{
	const size_t left = window_left(w);
	const size_t room = WINDOW_NBYTES - left;
	size_t got;

	/* Or no progress would look like the end: a record always fits. */
	assert(left < WINDOW_NBYTES);
	if (left != 0 && w->next != w->buf)
		memmove(w->buf, w->next, left);
	w->next = w->buf;
	got = input_read(&w->input, w->buf + left,
			 room < WINDOW_READ_NBYTES ? room : WINDOW_READ_NBYTES);
	w->buf[left + got] = 0;
	w->end = w->buf + left + got;
	w->end_offset += got;
	return got != 0;
}

size_t
window_want(struct window *w, size_t nbytes)
{
	while (window_left(w) < nbytes && window_more(w))
		;
	return window_left(w);
}

void
window_fini(struct window *w)
{
	input_fini(&w->input);
	free(w->buf);
}
