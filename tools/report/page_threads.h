/* SPDX-License-Identifier: MIT */
/*
 * page_threads.h - the threads that a page names
 *
 * A page has room for PAGE_THREADS_MAX threads; those that allocated least
 * share one row.
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
	uint32_t count;	  /* rows of the page */
	uint32_t *row_of; /* by the census's row of a thread */
	uint32_t *first;  /* the census's row, by row of the page */
	struct account *sums;
	bool has_rest; /* the last row is of several threads */
};

bool page_threads_make(struct page_threads *t, const struct census *c);
void page_threads_free(struct page_threads *t);

/* Write the members 'threads', 'lanes' and 'matrix'. */
void page_threads_write(const struct page_threads *t, struct page_tree *tree,
			const struct page_sights *sights, struct out *o);

#endif /* PAGE_THREADS_H */
