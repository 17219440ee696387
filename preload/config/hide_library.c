/* SPDX-License-Identifier: MIT */
/* hide_library.c - see hide_library.h */
#include "preload/config/hide_library.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#define VARIABLE "LD_PRELOAD="
#define LIBRARY	 "libhatftrace.so"

bool
hide_library_may_change(const char *string)
{
	const uintptr_t low = getauxval(AT_RANDOM);
	const uintptr_t high = getauxval(AT_EXECFN);
	const uintptr_t at = (uintptr_t)string;

	return low != 0 && at >= low && at < high;
}

static bool
is_separator(char c)
{
	return c == ':' || c == ' ';
}

/*
 * Does the path 'name' of 'nbytes' bytes name the recorder's library?  The
 * library may be in any folder, and a version may follow ".so".
 */
static bool
is_library(const char *name, size_t nbytes)
{
	size_t base = nbytes;

	while (base > 0 && name[base - 1] != '/')
		base--;
	return nbytes - base >= sizeof(LIBRARY) - 1 &&
	       memcmp(name + base, LIBRARY, sizeof(LIBRARY) - 1) == 0;
}

/*
 * Replace the recorder's name in 'list', the value of LD_PRELOAD, by
 * separators, which the loader skips.  The other names keep their places, since
 * another thread may be reading the list.  A list without other names becomes
 * empty.
 */
static void
hide_in(char *list)
{
	bool has_others = false;

	for (char *name = list; *name != '\0';) {
		size_t n = 0;

		while (name[n] != '\0' && !is_separator(name[n]))
			n++;
		if (is_library(name, n))
			memset(name, ':', n);
		else
			has_others |= n != 0;
		name += n + (name[n] != '\0');
	}
	if (!has_others)
		*list = '\0';
}

void
hide_library(char *const environment[])
{
	const size_t n = sizeof(VARIABLE) - 1;

	for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
		if (strncmp(environment[i], VARIABLE, n) == 0 &&
		    hide_library_may_change(environment[i]))
			hide_in(environment[i] + n);
}
