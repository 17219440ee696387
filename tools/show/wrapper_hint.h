/* SPDX-License-Identifier: MIT */
/*
 * wrapper_hint.h - tell the user that --wrapper would list callers
 *
 * If a program allocates through a function of its own, such as xmalloc(), a
 * list of sites shows little more than this function.
 */
#ifndef WRAPPER_HINT_H
#define WRAPPER_HINT_H

#include "tools/show/callers.h"
#include "tools/ui/out.h"

/* A list of sites that has been printed. */
struct wrapper_hint {
	const struct groups *sites;
	struct callers *callers;
	const uint32_t *order; /* the sites of the list, largest value first */
	uint32_t count;	       /* number of these sites */
	enum group_key key;    /* selects the value of a site */
	uint64_t nbytes;       /* sum of the values of all sites, in bytes */
};

/*
 * If the one or two largest sites have more than half of all bytes, and one of
 * the two has a main caller, print a line that names the option --wrapper.
 */
void wrapper_hint_print(struct out *o, const struct wrapper_hint *h);

#endif /* WRAPPER_HINT_H */
