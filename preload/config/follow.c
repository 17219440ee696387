/* SPDX-License-Identifier: MIT */
/* follow.c - see follow.h */

#include "preload/config/follow.h"

#include <stddef.h>
#include <string.h>

#include "preload/config/hide_library.h"

#define VARIABLE "HATFTRACE_FOLLOW="

bool
follow_allows(const struct follow *f, const char *exe)
{
	/*
	 * If 'known' is already set, this process is the child of a fork: each
	 * process calls this function once, a fork copies both variables to the
	 * child, and an exec resets both.
	 */
	static bool known, is_root;
	const bool forked = known;

	if (!known)
		is_root = !f->is_marked;
	known = true;
	return (is_root || f->execs) && (!forked || f->forks) &&
	       (!f->has_globs || globs_choose(f->globs, exe));
}

void
follow_mark(char *const environment[])
{
	for (size_t i = 0; environment != NULL && environment[i] != NULL; i++) {
		char *const value = environment[i] + sizeof(VARIABLE) - 1;

		if (strncmp(environment[i], VARIABLE, sizeof(VARIABLE) - 1) !=
			    0 ||
		    !hide_library_may_change(environment[i]))
			continue;
		if (*value >= 'a' && *value <= 'z')
			*value = (char)(*value & ~FOLLOW_MARK_BIT);
	}
}
