/* SPDX-License-Identifier: MIT */
/*
 * live_sites.h - who has the memory of a running program, by call site
 *
 * A running program's trace has addresses and no names.  This finds the names
 * as 'hatf symbolize' does, for the stacks with most memory first and only for
 * so long at a time.  In a trace without call stacks, a thread and a size class
 * stand for a site.
 *
 * Memory is O(stacks + sites).  One thread uses a table; the census must be
 * locked during live_sites_update().
 */
#ifndef LIVE_SITES_H
#define LIVE_SITES_H

#include "tools/live/live_trace.h"
#include "tools/summary/groups.h"

/* A row of the table. */
struct live_site {
	char *name;		 /* escaped */
	struct amount live;	 /* now */
	struct amount allocated; /* since the trace began */
	struct amount first;	 /* live when the site was first looked at */
	struct amount before; /* allocated at the update before the last one */
	struct amount last;   /* allocated at the last update */
};

struct live_sites;

/* Rows are sites, or with BY_THREAD threads.  NULL: no memory. */
struct live_sites *live_sites_open(enum group_by by);
void live_sites_close(struct live_sites *s);

/*
 * Take the figures of now.   Stacks whose
 * site has no name after 'budget_ms' are in a row "[not named yet]".  False: no
 * memory.
 */
bool live_sites_update(struct live_sites *s, const struct live_trace *t,
		       const struct census *census, unsigned budget_ms);

/* Forget all about stacks, whose numbers begin anew with another trace. */
void live_sites_forget_stacks(struct live_sites *s);

/* The rows, in no order; they may move with the next update. */
struct live_site *live_sites_rows(struct live_sites *s, size_t *n_ret);

/* Has the trace call stacks? */
bool live_sites_has_stacks(const struct live_sites *s);

#endif /* LIVE_SITES_H */
