/* SPDX-License-Identifier: MIT */
/*
 * page_order.h - a sorted set of page numbers
 *
 * Heaps use adjacent pages, so the set stores pages in groups.  A group stands
 * for 64 adjacent pages and has two words: a number, and one bit for each page.
 * Groups are sorted within runs of at most RUN_MAX groups (see page_order.c),
 * and the runs are sorted, too:
 *
 *	runs	| first, groups, count, cap | first, groups, count, cap | ...
 *			    |
 *			    v
 *		| number, pages | number, pages | ...
 *
 * Memory is O(peak number of pages), because a run that loses groups keeps its
 * memory until the run is empty.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_PAGE_ORDER_H
#define HATF_PAGE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_group {
	uint64_t number; /* number of the group's first page, divided by 64 */
	uint64_t pages;	 /* bit i: page 64 * number + i is in the set */
};

struct page_run {
	uint64_t first; /* 'number' of the run's first group */
	struct page_group *groups;
	unsigned count, cap;
};

/* Invariant: no group and no run is empty. */
struct page_order {
	struct page_run *runs; /* NULL: the set has no runs yet */
	size_t count, cap;
};

/* Free the memory and make the set empty.  A set that is all zeros is empty. */
void page_order_fini(struct page_order *order);

/* Add a page.  Return false, with the set unchanged, if there is no memory. */
bool page_order_add(struct page_order *order, uint64_t page);

/* Remove a page.  Precondition: the page is in the set. */
void page_order_remove(struct page_order *order, uint64_t page);

/*
 * Find the last page of the set that is before 'page'.  Return false if there
 * is none.  'page' itself need not be in the set.
 */
bool page_order_before(const struct page_order *order, uint64_t page,
		       uint64_t *page_ret);

/*
 * Find the first page of the set that is after 'page'.  Return false if there
 * is none.  'page' itself need not be in the set.
 */
bool page_order_after(const struct page_order *order, uint64_t page,
		      uint64_t *page_ret);

#endif /* HATF_PAGE_ORDER_H */
