/* SPDX-License-Identifier: MIT */
/* row_name.c - see row_name.h */
#include "tools/limits/row_name.h"

#include "hatf/frames/function_name.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Room for the longest name of a row (COMPARISON_NAME_NBYTES). */
#define NAME_NBYTES 4096

static bool
matches(const char *glob, const char *name)
{
	return fnmatch(glob, name, 0) == 0;
}

static bool
matches_last_part(const char *glob, const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL && matches(glob, slash + 1);
}

/*
 * If the name has the form "HEAD (TAIL)", copy the head to 'buf', and return
 * the tail, which is also in 'buf'.  If not, copy the whole name and return
 * NULL.
 */
static char *
cut_tail(const char *name, char buf[NAME_NBYTES])
{
	char *tail;
	size_t n;

	snprintf(buf, NAME_NBYTES, "%s", name);
	n = strlen(buf);
	tail = strrchr(buf, '(');
	if (tail == NULL || tail == buf || tail[-1] != ' ' || buf[n - 1] != ')')
		return NULL;
	buf[n - 1] = '\0';
	tail[-1] = '\0';
	return tail + 1;
}

static bool
matches_site(const char *glob, const char *name)
{
	char buf[NAME_NBYTES];
	const char *const file = cut_tail(name, buf);

	return function_name_matches(glob, buf) ||
	       (file != NULL && matches(glob, file));
}

/* Match the name of a thread or heap: "thread 3 (worker)", "heap 2". */
static bool
matches_numbered(const char *glob, const char *name)
{
	char buf[NAME_NBYTES];
	const char *const tail = cut_tail(name, buf);
	const char *const blank = strchr(buf, ' ');

	return (blank != NULL && matches(glob, blank + 1)) ||
	       (tail != NULL && matches(glob, tail));
}

bool
row_name_matches(enum limit_scope scope, const char *glob, const char *name)
{
	if (matches(glob, name))
		return true;
	switch (scope) {
	case LIMIT_SITE:
		return matches_site(glob, name);
	case LIMIT_FUNCTION:
		return function_name_matches(glob, name);
	case LIMIT_FILE:
	case LIMIT_MODULE:
		return matches_last_part(glob, name);
	default:
		return matches_numbered(glob, name);
	}
}
