/* SPDX-License-Identifier: MIT */
/*
 * live_screen.h - the page of 'hatf top', on a terminal or as plain text
 *
 * On a terminal the page uses the alternate screen and fits the window.
 * Elsewhere each page is text, with an empty line after it.  Names are escaped.
 * Use this module from one thread only: it has a single screen.
 */
#ifndef LIVE_SCREEN_H
#define LIVE_SCREEN_H

#include "tools/live/live_sites.h"
#include "tools/live/live_trace.h"

#include <stdbool.h>

/* What to sort rows by. */
enum live_key {
	LIVE_BY_LIVE,
	LIVE_BY_GROWTH,
	LIVE_BY_RATE,
	LIVE_BY_BLOCKS,
	LIVE_KEY_COUNT
};

/* live_screen_wait() returns this value if the size of the window changed. */
#define LIVE_SCREEN_RESIZED 0x100

extern const char *const live_key_words[LIVE_KEY_COUNT + 1];

/* The content of a page, which the caller fills in. */
struct live_page {
	const char *title; /* such as "4242 app, app.hatf.gz"; escaped */
	const char *state; /* such as "running" or "reading, 45 %" */
	/* time since the previous page; 0: this is the first page */
	double seconds;
	/* Figures of the whole trace: */
	struct amount live, peak, allocated, allocated_before;
	uint64_t event_count, lost_count, thread_count;
	/*
	 * Time from the first event to the last event so far, and from the
	 * first event to the peak; 0: unknown.
	 */
	uint64_t duration_ns, peak_ns;
	struct live_sites *rows;
	/* what a row is: "site", "thread and size" or "thread" */
	const char *unit;
	enum live_key key;
	/* maximum number of rows of a page in plain text; 0: unlimited */
	size_t top;
};

/*
 * Prepare the terminal, unless 'plain' is set or standard output is not a
 * terminal.  An exit handler restores the terminal.
 */
void live_screen_begin(bool plain);

/*
 * Print a page.  On a terminal, print as much of it as fits the window.  Return
 * false if there is no memory, or if standard output cannot be written.
 */
bool live_screen_print(const struct live_page *page);

/*
 * Wait up to 'ms' milliseconds for a key or a change of the window's size.
 * Return the key, LIVE_SCREEN_RESIZED, or 0 if neither came.  Without a
 * terminal, just wait.
 */
int live_screen_wait(unsigned ms);

/* Restore the terminal. */
void live_screen_end(void);

#endif /* LIVE_SCREEN_H */
