/* SPDX-License-Identifier: MIT */
/*
 * page_sites.h - the sites that a page shows, with their live bytes over time
 *
 * A page shows the most important call paths.  Other call paths that have the
 * same caller near main() and the same site share a path, with the frame
 * "(other paths)" between that caller and the site.  If there are too many
 * shared paths, the rest share the path "(small sites)".  In this way, all sums
 * stay exact.
 */
#ifndef PAGE_SITES_H
#define PAGE_SITES_H

#include "tools/report/page_threads.h"
#include "tools/report/page_tree.h"
#include "tools/summary/census.h"
#include "tools/summary/site_names.h"

/* A change of the live bytes and of the live blocks of a site. */
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
	uint64_t room; /* bytes that the sites and their tree may take */
	/*
	 * true: each site is a set of call stacks; false: each site is a thread
	 * and a size class
	 */
	bool of_stacks;
	struct page_site *rows;
	uint32_t count, cap;
	/*
	 * Log2 of the width of a point on the time axis of the HTML page.  Such
	 * a point is at least as wide as a point of the history (history.h).
	 */
	unsigned point_shift;
	/* site of each stack, by the stack's row; PAGE_NONE: none */
	uint32_t *site_of;
	bool no_memory;
};

/*
 * Find the sites, and put their paths into 'tree'.  The sites and the tree take
 * about 'room' bytes on the page.  Return false if there is no memory.
 */
bool page_sites_make(struct page_sites *s, const struct census *c,
		     struct site_names *names,
		     const struct page_threads *threads, struct page_tree *tree,
		     uint64_t room);
void page_sites_free(struct page_sites *s);

/*
 * Return the number of the point on the page's time axis that contains point
 * 'i' of the history.
 */
static inline uint64_t
page_sites_point(const struct page_sites *s, size_t i)
{
	const struct history *const h = &s->census->history;

	return h->points[i].number >> (s->point_shift - h->point_shift);
}

/* Write the JSON member "sites". */
void page_sites_write(const struct page_sites *s, struct out *o);

#endif /* PAGE_SITES_H */
