/* SPDX-License-Identifier: MIT */
/*
 * paged_map.h - values by numbers that are given one after the other
 *
 * For formats that give each block a number, higher than all before, and later know
 * it by that: a value for each number that is in use.  Values lie in pages by their
 * numbers, so that giving the next number takes no search, and a search is one
 * among the pages.
 *
 * Any number may be put in any order; it is only slower.  Memory is O(numbers in
 * use): a page for each at worst, a page less than PAGED_MAP_PAGE_SLOTS values each
 * otherwise.
 */
#ifndef HATF_PAGED_MAP_H
#define HATF_PAGED_MAP_H

#include "hatf/containers/u64_map.h"

/* Few, for a long trace may leave one in use in each page. */
#define PAGED_MAP_PAGE_SLOTS 32

struct paged_map_page {
	uint64_t number; /* of the first value, less its place */
	uint32_t used;	 /* bits of the places in use */
	uint64_t values[PAGED_MAP_PAGE_SLOTS];
};

/* Invariant: all pages but 'last' have a place in use. */
struct paged_map {
	struct live pages;	     /* by number; 'size' is the address */
	struct paged_map_page *last; /* that was put into; NULL: none */
};

void paged_map_init(struct paged_map *m);
void paged_map_fini(struct paged_map *m);

/* Give 'number' a value, in place of the one that it may have.  False if there is
 * no memory. */
bool paged_map_put(struct paged_map *m, uint64_t number, uint64_t value);

/* Where the value of 'number' is; NULL if it has none. */
uint64_t *paged_map_find(struct paged_map *m, uint64_t number);

/* Forget a number that has a value. */
void paged_map_remove(struct paged_map *m, uint64_t number);

#endif /* HATF_PAGED_MAP_H */
