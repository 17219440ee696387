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
 * use): a page for each at worst, a page less than NUMBERED_COUNT values each
 * otherwise.
 */
#ifndef HATF_NUMBERED_H
#define HATF_NUMBERED_H

#include "hatf/containers/u64_map.h"

/* Few, for a long trace may leave one in use in each page. */
#define NUMBERED_COUNT 32

struct numbered_page {
	uint64_t number; /* of the first value, less its place */
	uint32_t used;	 /* bits of the places in use */
	uint64_t values[NUMBERED_COUNT];
};

/* Invariant: all pages but 'last' have a place in use. */
struct numbered {
	struct u64_map pages;	    /* by number; 'value' is the address */
	struct numbered_page *last; /* that was put into; NULL: none */
};

void numbered_init(struct numbered *n);
void numbered_fini(struct numbered *n);

/* Give 'number' a value, in place of the one that it may have.  False if there is
 * no memory. */
bool numbered_put(struct numbered *n, uint64_t number, uint64_t value);

/* Where the value of 'number' is; NULL if it has none. */
uint64_t *numbered_find(struct numbered *n, uint64_t number);

/* Forget a number that has a value. */
void numbered_remove(struct numbered *n, uint64_t number);

#endif /* HATF_NUMBERED_H */
