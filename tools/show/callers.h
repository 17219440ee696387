/* SPDX-License-Identifier: MIT */
/*
 * callers.h - the main caller of a site
 *
 * A program that calls malloc() only through a function of its own, such as
 * xmalloc(), has few sites.  The stacks of such a site differ only further
 * outward.  callers_find() follows these stacks from the site outwards, to the
 * first frame that is not the same in all of them.  Of the callers there, the
 * one whose stacks have the largest value (groups_value()) is the main caller.
 */
#ifndef CALLERS_H
#define CALLERS_H

#include "tools/summary/groups.h"
#include "tools/summary/site_names.h"

struct callers;

struct main_caller {
	/* function, or place if the function is unknown; escaped; NULL: none */
	char *name;
	bool is_direct; /* no other frame is between the site and the caller */
};

/*
 * Prepare to find the callers of 'sites', which must outlive the result and
 * which groups_make() made with BY_SITE.  Return NULL if there is no memory.
 */
struct callers *callers_open(const struct groups *sites,
			     struct site_names *names);
void callers_close(struct callers *c);

/*
 * Find the main caller of a site, by the values that 'key' selects.  If all
 * stacks of the site have the same callers, there is no main caller.  Free
 * 'name' after use.  Return false if there is no memory.
 */
bool callers_find(struct callers *c, uint32_t site, enum group_key key,
		  struct main_caller *caller_ret);

/* Size of the buffer of callers_glob(), with the NUL. */
#define CALLERS_GLOB_NBYTES 32

/*
 * Write a pattern for --wrapper that matches the site, and that the user can
 * put between single quotes in a shell.  Return false if there is no such
 * pattern that is short enough.
 */
bool callers_glob(struct callers *c, uint32_t site,
		  char buf[CALLERS_GLOB_NBYTES]);

#endif /* CALLERS_H */
