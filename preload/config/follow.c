/* SPDX-License-Identifier: MIT */
/* follow.c - see follow.h */

#include "preload/config/follow.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#define VARIABLE "HATFTRACE_FOLLOW="

bool
follow_allows(const struct follow *f, const char *exe)
{
	/*
	 * A fork copies both variables, so 'known' is set in the child.  Until
	 * an exec, every call except the first is made by the child of a fork.
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
	/*
	 * Write only to strings that the kernel put on the stack.  A string
	 * that another library put into 'environment' may be a constant.
	 */
	const uintptr_t low = getauxval(AT_RANDOM);
	const uintptr_t high = getauxval(AT_EXECFN);

	for (size_t i = 0; environment != NULL && environment[i] != NULL; i++) {
		char *const value = environment[i] + sizeof(VARIABLE) - 1;
		const uintptr_t at = (uintptr_t)environment[i];

		if (strncmp(environment[i], VARIABLE, sizeof(VARIABLE) - 1) !=
			    0 ||
		    low == 0 || at < low || at >= high)
			continue;
		if (*value >= 'a' && *value <= 'z')
			*value = (char)(*value & ~FOLLOW_MARK_BIT);
	}
}
