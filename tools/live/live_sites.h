/* SPDX-License-Identifier: MIT */
/*
 * live_sites.h - the memory of a running program, by call site
 *
 * A running program's trace has addresses and no names.  This module finds the
 * names as 'hatf symbolize' does.  It begins with the stacks that have the most
 * live bytes, and spends a limited time per update.  In a trace without call
 * stacks, each pair of a thread and a size class is a site.
 *
 * Memory is O(stacks + sites).  Only one thread may use a table.  The census
 * must be locked during live_sites_update().
 */
#ifndef LIVE_SITES_H
#define LIVE_SITES_H

#include "tools/live/live_trace.h"
#include "tools/sites/stack_view.h"
#include "tools/summary/groups.h"

/* A row of the table. */
struct live_site {
	char *name;		 /* escaped */
	struct amount live;	 /* live at the last update */
	struct amount allocated; /* allocated since the trace began */
	/* bytes that were live when growth began to count */
	uint64_t first_nbytes;
	/* bytes of 'allocated' at the update before the last one */
	uint64_t before_nbytes;
	/* number of the update at which growth began to count; 0: none yet */
	uint32_t first_update;
};

/*
 * Return by how many bytes the row has grown since the update 'first_update'.
 */
static inline int64_t
live_site_growth(const struct live_site *row)
{
	return (int64_t)(row->live.nbytes - row->first_nbytes);
}

/* Return the bytes that were allocated between the last two updates. */
static inline uint64_t
live_site_recent(const struct live_site *row)
{
	return row->allocated.nbytes > row->before_nbytes
		       ? row->allocated.nbytes - row->before_nbytes
		       : 0;
}

struct live_sites;

/*
 * Make an empty table.  Its rows are sites or, if 'by' is BY_THREAD, threads.
 * The site of a stack is its innermost frame that 'view' does not hide, or its
 * innermost frame if all are hidden.  Return NULL if there is no memory.
 */
struct live_sites *live_sites_open(enum group_by by,
				   const struct stack_view_options *view);
void live_sites_close(struct live_sites *s);

/*
 * Update the table from the census.  Look up names for about 'budget_ms'
 * milliseconds, but at least one name.  The row "[not named yet]" is the sum of
 * the stacks that still have no name.  When a stack gets its name, its share of
 * the growth and of 'before_nbytes' moves to its new row.  Return false if
 * there is no memory.
 */
bool live_sites_update(struct live_sites *s, const struct live_trace *t,
		       const struct census *census, unsigned budget_ms);

/* Let the growth of all rows count from the next update. */
void live_sites_forget_growth(struct live_sites *s);

/*
 * Forget all stacks.  Call this before the first update from another trace,
 * which numbers its stacks anew.  The rows keep their growth, unless a
 * stack that has no name yet had live bytes when its growth began to count:
 * the row of these bytes is unknown.  In that case, the growth of all rows
 * counts anew, from the next update.
 */
void live_sites_forget_stacks(struct live_sites *s);

/* Return the rows, in any order; the next update may move them. */
struct live_site *live_sites_rows(struct live_sites *s, size_t *n_ret);

/*
 * Did the trace have any block up to the last update: one that was allocated,
 * or one that was already live when the trace began?
 */
bool live_sites_has_blocks(const struct live_sites *s);

/* Are the rows sites, and did the trace have call stacks at the last update? */
bool live_sites_has_stacks(const struct live_sites *s);

#endif /* LIVE_SITES_H */
