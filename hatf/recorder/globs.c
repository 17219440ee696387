/* SPDX-License-Identifier: MIT */
/*
 * globs.c - see globs.h
 */
#include "hatf/recorder/globs.h"

#include <stddef.h>
#include <string.h>

/*
 * Return the length of the first glob of 'globs', a list separated by commas.
 */
static size_t
glob_length(const char *globs)
{
	return strcspn(globs, ",");
}

bool
globs_are_legal(const char *globs)
{
	if (globs[0] == '\0' || strnlen(globs, GLOBS_NBYTES) == GLOBS_NBYTES)
		return false;
	for (;; globs++) {
		const size_t length = glob_length(globs);

		if (length == (*globs == '!'))
			return false; /* a glob is empty */
		globs += length;
		if (*globs == '\0')
			return true;
	}
}

/*
 * Does all of 'name' match the glob of 'n' bytes?  After a mismatch, extend
 * only the match of the last star, by one byte.  Earlier stars keep their
 * shortest matches, because longer matches would only leave less of the name
 * for the rest of the glob.  So a name of m bytes takes at most n * m steps.
 */
static bool
matches(const char *glob, size_t n, const char *name)
{
	const char *const end = glob + n;
	const char *star = NULL, *resume = NULL;

	while (*name != '\0') {
		if (glob < end && *glob == '*') {
			star = glob++;
			resume = name;
		} else if (glob < end && (*glob == '?' || *glob == *name)) {
			glob++;
			name++;
		} else if (star != NULL) {
			glob = star + 1;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (glob < end && *glob == '*')
		glob++;
	return glob == end;
}

bool
globs_choose(const char *globs, const char *name)
{
	bool wanted = false, found = false;

	while (*globs != '\0') {
		const size_t n = glob_length(globs);
		const bool excludes = *globs == '!';
		const bool fits = matches(globs + excludes, n - excludes, name);

		if (excludes && fits)
			return false;
		wanted |= !excludes;
		found |= !excludes && fits;
		globs += n + (globs[n] == ',');
	}
	return found || !wanted;
}
