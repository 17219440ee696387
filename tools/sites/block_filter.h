/* SPDX-License-Identifier: MIT */
/*
 * block_filter.h - choose the blocks of some sites, threads or modules
 *
 * The stack and the thread of a block's allocation decide whether the block is
 * chosen.  All later records of a chosen block are chosen, too: its free, and
 * the reallocs that resize or move it, even if they have other stacks.  In this
 * way the chosen records are a consistent trace.  Records of threads and heaps,
 * and comments, are always chosen, except a comment "HATF event" of a thread
 * that does not match.
 *
 * Memory: 32 to 64 bytes times the largest number of chosen blocks that are
 * live at once.  Only one thread may use a filter.
 */
#ifndef BLOCK_FILTER_H
#define BLOCK_FILTER_H

#include "hatf/hatf.h"
#include "tools/sites/stack_view.h"

#include <stdbool.h>

/* Maximum number of patterns of one kind. */
#define BLOCK_FILTER_PATTERNS_MAX 64

/* Patterns of glob(7).  The caller owns the texts. */
struct block_filter_patterns {
	const char *texts[BLOCK_FILTER_PATTERNS_MAX];
	unsigned count;
};

/*
 * A block is chosen if it matches a pattern of 'site', one of 'module' and one
 * of 'thread', and no pattern of 'not_site'.  A member without patterns does
 * not restrict the choice.
 *
 * A site matches by its function (the whole text, the name, or the name without
 * template arguments), by its "file:line" or by its "module+0xoffset".  A
 * module matches by its path.  A path matches with or without its folders.  A
 * thread matches by its number, or by the name that it has when it allocates
 * the block.
 */
struct block_filter_options {
	struct block_filter_patterns site, not_site, module, thread;
};

struct block_filter;

/* Is there any pattern? */
bool block_filter_is_needed(const struct block_filter_options *options);

/*
 * Open a filter.  The caller keeps 'view' and '*options', which must outlive
 * the filter.  Return NULL if there is no memory.  block_filter_close() allows
 * NULL.
 */
struct block_filter *
block_filter_open(const struct block_filter_options *options,
		  struct stack_view *view);
void block_filter_close(struct block_filter *filter);

/*
 * Return whether the next record of the trace is chosen.  Call this function
 * for every record but metadata.
 */
bool block_filter_keeps(struct block_filter *filter,
			const struct hatf_record *rec);

/* Did memory run out?  Then the filter's answers are wrong. */
bool block_filter_has_failed(const struct block_filter *filter);

/* Are there patterns of sites or modules? */
bool block_filter_has_sites(const struct block_filter *filter);

/*
 * Return true if there are patterns of sites or modules that could not be used:
 * the chosen threads have allocated blocks, but all without a defined stack.
 */
bool block_filter_lacks_stacks(const struct block_filter *filter);

/* Return true if there are allocations, but none of them is chosen. */
bool block_filter_has_no_match(const struct block_filter *filter);

/*
 * Return true if there are patterns of 'not_site' and known sites, but these
 * patterns have left out none of the sites that the other patterns choose.
 */
bool block_filter_excludes_nothing(const struct block_filter *filter);

#endif /* BLOCK_FILTER_H */
