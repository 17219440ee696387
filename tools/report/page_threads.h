/* SPDX-License-Identifier: MIT */
/*
 * page_threads.h - the threads that a page names
 *
 * A page has at most PAGE_THREADS_MAX rows for threads.  If there are more
 * threads, those that allocated least share the last row.
 */
#ifndef PAGE_THREADS_H
#define PAGE_THREADS_H

#include "tools/report/page_sights.h"
#include "tools/report/page_tree.h"
#include "tools/summary/census.h"

#define PAGE_THREADS_MAX 100

/* Begins as all zeros. */
struct page_threads {
	const struct census *census;
	uint32_t count; /* number of rows for threads on the page */
	/*
	 * row_of[i] is the page's row of the thread that has row i in the
	 * census.
	 */
	uint32_t *row_of;
	/* the census's row of the first thread in each row of the page */
	uint32_t *first;
	struct account *sums;
	bool has_rest; /* several threads share the last row */
};

bool page_threads_make(struct page_threads *t, const struct census *c);
void page_threads_free(struct page_threads *t);

/* Write the members 'threads' and 'matrix'. */
void page_threads_write(const struct page_threads *t, struct page_tree *tree,
			const struct page_sights *sights, struct out *o);

#endif /* PAGE_THREADS_H */
