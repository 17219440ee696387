/* SPDX-License-Identifier: MIT */
/*
 * page_sights.h - what a page shows and a census does not count: threads, marks
 * and addresses
 *
 * This module collects the births and ends of threads, the marks of the
 * program, and the address map (page_map.h).  page_sights_see() gets each event
 * after the census has counted it.
 *
 * Memory is O(threads), and bounded for all else.
 */
#ifndef PAGE_SIGHTS_H
#define PAGE_SIGHTS_H

#include "tools/report/page_map.h"
#include "tools/summary/census.h"

/* Maximum number of marks that a page shows; further marks are only counted. */
#define PAGE_MARKS_MAX 500

/* Stands for an unknown time. */
#define PAGE_NEVER UINT64_MAX

/* The life of a thread, in axis units. */
struct page_life {
	uint64_t start, end;
};

struct page_mark {
	uint64_t at;
	char *text;
};

/* Begins as all zeros. */
struct page_sights {
	struct id_rows thread_ids;
	/* life of each thread, by its row in thread_ids */
	struct page_life *lives;
	uint32_t life_cap;
	struct page_mark marks[PAGE_MARKS_MAX];
	uint32_t mark_count;
	uint64_t marks_left_out;
	/* number of calls so far, as the census counts them */
	uint64_t event_count;
	struct page_map map;
	bool no_memory;
};

/*
 * Handle a batch of events.  This function is for the member 'watch' of struct
 * gather_options; the member 'watch_ctx' must point to a struct page_sights.
 */
void page_sights_see(void *ctx, const struct census *c,
		     const struct hatf_event *events, size_t n);

/* Store the life of a thread.  Return false if the thread has had no event. */
bool page_sights_life(const struct page_sights *s, uint64_t thread,
		      struct page_life *life_ret);

void page_sights_free(struct page_sights *s);

#endif /* PAGE_SIGHTS_H */
