/* SPDX-License-Identifier: MIT */
/*
 * paged_map.h - map of numbers that are mostly assigned in ascending order
 *
 * Use this for formats that give each block a number, larger than all earlier
 * ones, and later refer to the block by its number.  The values are stored in
 * pages of consecutive numbers.  Adding the next number therefore needs no
 * search, unless the number begins a page.  A lookup needs at most one search
 * among the pages.
 *
 * Numbers may be added in any order, but a random order is slower.  Memory is
 * O(numbers in use): at worst one page for each number.  Only one thread may
 * use a map.
 */
#ifndef HATF_PAGED_MAP_H
#define HATF_PAGED_MAP_H

#include "hatf/containers/u64_map.h"

/*
 * The size of a page: how many consecutive numbers the page covers.  The size
 * is small, because near the end of a long trace, each page may have only one
 * number in use.
 */
#define PAGED_MAP_PAGE_SLOTS 32

/* The values of PAGED_MAP_PAGE_SLOTS consecutive numbers. */
struct paged_map_page {
	/* first number of the page, divided by PAGED_MAP_PAGE_SLOTS */
	uint64_t number;
	uint32_t used; /* if bit i is set, values[i] is in use */
	uint64_t values[PAGED_MAP_PAGE_SLOTS];
};

/* Invariant: every page except 'last' has a value in use. */
struct paged_map {
	/* maps a page number to the address of the page */
	struct u64_map pages;
	/* page that the latest paged_map_put() used; NULL: none */
	struct paged_map_page *last;
};

/*
 * paged_map_init() begins with an empty map, paged_map_fini() frees its pages.
 */
void paged_map_init(struct paged_map *m);
void paged_map_fini(struct paged_map *m);

/*
 * Set the value of 'number'.  If 'number' already has a value, replace this
 * value.  Return false if memory runs out.
 */
bool paged_map_put(struct paged_map *m, uint64_t number, uint64_t value);

/*
 * Return a pointer to the value of 'number'; NULL if 'number' has no value.
 * The pointer is valid until the number is removed.
 */
uint64_t *paged_map_find(struct paged_map *m, uint64_t number);

/* Remove a number, which must have a value. */
void paged_map_remove(struct paged_map *m, uint64_t number);

#endif /* HATF_PAGED_MAP_H */
