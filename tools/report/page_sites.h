/* SPDX-License-Identifier: MIT */
/*
 * page_sites.h - the sites that a page shows, with what they have live
 *
 * A page has room for the call paths that matter.  The others share a path for
 * each function that allocates, "(other paths)", and beyond that one path,
 * "(small sites)".  So all sums stay exact.
 */
#ifndef PAGE_SITES_H
#define PAGE_SITES_H

#include "tools/report/page_threads.h"
#include "tools/report/page_tree.h"
#include "tools/summary/census.h"
#include "tools/summary/site_names.h"

/* A change of what a site has live. */
struct page_change {
	uint32_t point;
	int64_t nbytes, count;
};

struct page_site {
	uint32_t node, at;
	struct account sum;
	struct page_change *changes;
	uint32_t change_count, change_cap;
};

/* Begins as all zeros. */
struct page_sites {
	const struct census *census;
	bool of_stacks; /* else of threads and size classes */
	struct page_site *rows;
	uint32_t count, cap;
	uint32_t *site_of; /* by row of stack; PAGE_NONE: none */
	bool no_memory;
};

/* Find the sites, and put their paths into 'tree'.  False: no memory. */
bool page_sites_make(struct page_sites *s, const struct census *c,
		     struct site_names *names,
		     const struct page_threads *threads,
		     struct page_tree *tree);
void page_sites_free(struct page_sites *s);

/* Write the member 'sites'. */
void page_sites_write(const struct page_sites *s, struct out *o);

#endif /* PAGE_SITES_H */
