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
#include "tools/summary/groups.h"

/* A row of the table. */
struct live_site {
	char *name;		 /* escaped */
	struct amount live;	 /* live at the last update */
	struct amount allocated; /* allocated since the trace began */
	/* live at the update that added this site */
	struct amount first;
	struct amount before; /* 'allocated' before the last update */
	struct amount last;   /* 'allocated' after the last update */
};

struct live_sites;

/*
 * Make an empty table.  Its rows are sites or, if 'by' is BY_THREAD, threads.
 * Return NULL if there is no memory.
 */
struct live_sites *live_sites_open(enum group_by by);
void live_sites_close(struct live_sites *s);

/*
 * Update the table from the census.  Look up names for about 'budget_ms'.  The
 * row "[not named yet]" is the sum of the stacks that still have no name.
 * Return false if there is no memory.
 */
bool live_sites_update(struct live_sites *s, const struct live_trace *t,
		       const struct census *census, unsigned budget_ms);

/* Forget all stacks, because another trace numbers its stacks anew. */
void live_sites_forget_stacks(struct live_sites *s);

/* Return the rows, in no order; the next update may move them. */
struct live_site *live_sites_rows(struct live_sites *s, size_t *n_ret);

/* Are the rows sites, and did the trace have call stacks at the last update? */
bool live_sites_has_stacks(const struct live_sites *s);

#endif /* LIVE_SITES_H */
