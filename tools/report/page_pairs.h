/* SPDX-License-Identifier: MIT */
/*
 * page_pairs.h - what each thread has allocated at each site, for an HTML page
 *
 * The page has the most important PAGE_PAIRS_MAX pairs of a thread and a site.
 * For each thread, one more row has the sum of all its other pairs.
 */
#ifndef PAGE_PAIRS_H
#define PAGE_PAIRS_H

#include "tools/report/page_sites.h"

#define PAGE_PAIRS_MAX 5000

/* Write the member 'pairs'.  Return false if there is no memory. */
bool page_pairs_write(const struct page_sites *sites,
		      const struct page_threads *threads, struct out *o);

#endif /* PAGE_PAIRS_H */
