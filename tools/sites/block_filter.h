/* SPDX-License-Identifier: MIT */
/*
 * block_filter.h - choose the blocks of some sites, threads or modules
 *
 * A block is chosen when it is allocated.  All its later records follow: its
 * free, and the reallocs that resize or move it, whatever their own stacks.  So
 * the chosen records make a consistent trace.  Records of threads and heaps,
 * and comments, are always chosen.
 *
 * Memory: 32 bytes for each live block that was chosen.  One thread uses a
 * filter.
 */
#ifndef BLOCK_FILTER_H
#define BLOCK_FILTER_H

#include "hatf/hatf.h"
#include "tools/sites/stack_view.h"

#include <stdbool.h>

/* The most patterns of one kind. */
#define BLOCK_FILTER_PATTERNS_MAX 64

/* Patterns of glob(7); the texts stay the caller's. */
struct block_filter_patterns {
	const char *texts[BLOCK_FILTER_PATTERNS_MAX];
	unsigned count;
};

/*
 * A block is chosen if it matches a pattern of each kind that has some, and no
 * pattern of 'not_site'.  A site matches by its function (the whole text, the
 * name, or the name without template arguments), its "file:line" or its
 * "module+0xoffset", each with the whole path or with the name alone; a module
 * by the same two; a thread by its number or its present name.
 */
struct block_filter_options {
	struct block_filter_patterns site, not_site, module, thread;
};

struct block_filter;

/* Has the user chosen anything? */
bool block_filter_is_needed(const struct block_filter_options *options);

/*
 * 'view' and '*options' stay the caller's.  NULL: no memory.
 * block_filter_close() allows NULL.
 */
struct block_filter *
block_filter_open(const struct block_filter_options *options,
		  struct stack_view *view);
void block_filter_close(struct block_filter *filter);

/*
 * Is the next record of the trace chosen?  Call it for every record but
 * metadata.
 */
bool block_filter_keeps(struct block_filter *filter,
			const struct hatf_record *rec);

/* Did a lack of memory make the answers wrong? */
bool block_filter_has_failed(const struct block_filter *filter);

/* Did the filter ask for a site, and no allocation had a stack? */
bool block_filter_lacks_stacks(const struct block_filter *filter);

#endif /* BLOCK_FILTER_H */
