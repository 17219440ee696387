/* SPDX-License-Identifier: MIT */
/*
 * live_screen.h - the page of 'hatf top', on a terminal or as plain text
 *
 * On a terminal the page has a screen of its own and fits the window.
 * Elsewhere each page is text, with an empty line after it.  Names are escaped.
 * One thread uses a screen, and there is at most one.
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

extern const char *const live_key_words[LIVE_KEY_COUNT + 1];

/* What is shown; the caller fills it in for each page. */
struct live_page {
	const char *title; /* "4242 app, app.hatf.gz"; escaped */
	const char *state; /* "running", "ended by exit", "reading, 45 %" */
	double seconds;	   /* since the page before; 0: this is the first */
	/* Of the whole trace: */
	struct amount live, peak, allocated, allocated_before;
	uint64_t event_count, lost_count, thread_count;
	uint64_t duration_ns, peak_ns; /* since the first event; 0: no times */
	struct live_sites *rows;
	const char *unit; /* "site", "thread and size", "thread" */
	enum live_key key;
	size_t top; /* rows of plain text; 0: all */
};

/* Prepare the terminal, if it is one and not 'plain'; restored at exit. */
void live_screen_begin(bool plain);

/* Print a page.  False: no memory, or standard output cannot be written. */
bool live_screen_print(const struct live_page *page);

/*
 * Wait for so long, or for a key: return it, or 0 after the time.  Without a
 * terminal, just wait.
 */
int live_screen_wait(unsigned ms);

/* Restore the terminal. */
void live_screen_end(void);

#endif /* LIVE_SCREEN_H */
