/* SPDX-License-Identifier: MIT */
/*
 * paged_map.h - map of numbers that are mostly assigned in ascending order
 *
 * For formats that give each block a number, higher than all before, and later
 * refer to the block by that number.  The values are stored in pages of
 * consecutive numbers, so adding the next number needs no search, and a lookup
 * is one search among the pages.
 *
 * Numbers may be added in any order; random order is only slower.  Memory is
 * O(numbers in use): at worst one page for each.  One thread uses a map.
 */
#ifndef HATF_PAGED_MAP_H
#define HATF_PAGED_MAP_H

#include "hatf/containers/u64_map.h"

/*
 * Numbers in a page.  Keep it small: near the end of a long trace, each page
 * may have only one number in use.
 */
#define PAGED_MAP_PAGE_SLOTS 32

/* The values of PAGED_MAP_PAGE_SLOTS consecutive numbers. */
struct paged_map_page {
	uint64_t number; /* number of its first value / PAGED_MAP_PAGE_SLOTS */
	uint32_t used;	 /* bit i: values[i] is in use */
	uint64_t values[PAGED_MAP_PAGE_SLOTS];
};

/* Invariant: every page except 'last' has a value in use. */
struct paged_map {
	struct u64_map
		pages; /* by page number; 'value' is the page's address */
	/* page of the last paged_map_put(); NULL: none */
	struct paged_map_page *last;
};

/* Begin with an empty map; paged_map_fini() frees its pages. */
void paged_map_init(struct paged_map *m);
void paged_map_fini(struct paged_map *m);

/*
 * Set the value of 'number', replacing an old one.  Returns false if memory is
 * short.
 */
bool paged_map_put(struct paged_map *m, uint64_t number, uint64_t value);

/*
 * Return a pointer to the value of 'number', or NULL if it has none.  The
 * pointer is valid until the number is removed.
 */
uint64_t *paged_map_find(struct paged_map *m, uint64_t number);

/* Remove a number, which must have a value. */
void paged_map_remove(struct paged_map *m, uint64_t number);

#endif /* HATF_PAGED_MAP_H */
