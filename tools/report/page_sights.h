/* SPDX-License-Identifier: MIT */
/*
 * page_sights.h - what a page shows and a census does not count
 *
 * The births and ends of threads, the marks of the program, and the address map
 * (page_map.h).  It sees the same events as the census, after it.
 *
 * Memory is O(threads), and bounded for all else.
 */
#ifndef PAGE_SIGHTS_H
#define PAGE_SIGHTS_H

#include "tools/report/page_map.h"
#include "tools/summary/census.h"

/* Marks that a page shows; more are counted. */
#define PAGE_MARKS_MAX 500

/* No time is known. */
#define PAGE_NEVER UINT64_MAX

/* A thread, in axis units. */
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
	struct page_life *lives; /* by row of thread_ids */
	uint32_t life_cap;
	struct page_mark marks[PAGE_MARKS_MAX];
	uint32_t mark_count;
	uint64_t marks_left_out;
	uint64_t event_count; /* calls so far, as the census counts them */
	struct page_map map;
	bool no_memory;
};

/* For gather_options: 'ctx' is a struct page_sights. */
void page_sights_see(void *ctx, const struct census *c,
		     const struct hatf_event *events, size_t n);

/* The life of a thread; false if no event was seen of it. */
bool page_sights_life(const struct page_sights *s, uint64_t thread,
		      struct page_life *life_ret);

void page_sights_free(struct page_sights *s);

#endif /* PAGE_SIGHTS_H */
