/* SPDX-License-Identifier: MIT */
/*
 * page_order.h - a set of pages in the order of their numbers
 *
 * Pages of a heap lie beside each other, so 64 of them are one group, of two words: a
 * number and a bit for each page.  Groups are sorted in runs of RUN_MAX at most, and
 * the runs are sorted, too:
 *
 *	runs	|  first, groups, count, cap  |  first, groups, count, cap  | ...
 *			    |
 *			    v
 *		| number, pages | number, pages | ...
 *
 * Memory is O(most pages at a time): a run that loses groups stays as it is until it
 * has none.
 */
#ifndef HATF_PAGE_ORDER_H
#define HATF_PAGE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_group {
	uint64_t number; /* of its first page, divided by 64 */
	uint64_t pages;	 /* bit i: its page i is in the set */
};

struct page_run {
	uint64_t first; /* number of its first group */
	struct page_group *groups;
	unsigned count, cap;
};

/* Invariant: no group and no run is empty. */
struct page_order {
	struct page_run *runs; /* NULL: none yet */
	size_t count, cap;
};

/* All 0 is an empty set, without memory; this makes one such. */
void page_order_fini(struct page_order *order);

/* Put a page in; false if there is no memory, with the set unchanged. */
bool page_order_add(struct page_order *order, uint64_t page);

/* Take out a page that is in. */
void page_order_remove(struct page_order *order, uint64_t page);

/* The last page before this one, which need not be in; false if there is none. */
bool page_order_before(const struct page_order *order, uint64_t page,
		       uint64_t *page_ret);

/* The first page behind this one, which need not be in; false if there is none. */
bool page_order_after(const struct page_order *order, uint64_t page,
		      uint64_t *page_ret);

#endif /* HATF_PAGE_ORDER_H */
