/* SPDX-License-Identifier: MIT */
/* follow.c - see follow.h */

#include "follow.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#define VARIABLE "HATFTRACE_FOLLOW="

/* 'a' to 'z' and 'A' to 'Z' differ in this bit. */
#define CASE_BIT 0x20

static const struct {
	const char *rest; /* of the word, without its first letter */
	char first;
	bool forks, execs;
} words[] = {
	{ "one", 'n', false, false },
	{ "ork", 'f', true, false },
	{ "xec", 'e', false, true },
	{ "ll", 'a', true, true },
};

/* Length of the glob at 'globs', which ends at a comma or the end. */
static size_t
glob_length(const char *globs)
{
	return strcspn(globs, ",");
}

static bool
set_globs(struct follow *f, const char *text)
{
	const size_t n = strlen(text);

	if (n == 0 || n >= sizeof(f->globs))
		return false;
	memcpy(f->globs, text, n + 1);
	for (const char *p = text;; p++) {
		const size_t length = glob_length(p);

		if (length == (*p == '!'))
			return false; /* an empty one */
		p += length;
		if (*p == '\0')
			return true;
	}
}

bool
follow_parse(struct follow *f, const char *value)
{
	const char first = (char)(value[0] | CASE_BIT);

	f->is_marked = first != value[0];
	f->globs[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t n = strlen(words[i].rest);

		if (first != words[i].first ||
		    strncmp(value + 1, words[i].rest, n) != 0)
			continue;
		f->forks = words[i].forks;
		f->execs = words[i].execs;
		if (value[1 + n] == ':')
			return set_globs(f, value + 1 + n + 1);
		return value[1 + n] == '\0';
	}
	return false;
}

/* Does all of 'name' match the glob of 'n' bytes, made of '*', '?' and text? */
static bool
glob_matches(const char *glob, size_t n, const char *name)
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
			/* The star takes one more. */
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

/* Some glob without '!' matches, if there is one, and none with it does. */
static bool
is_named(const char *globs, const char *name)
{
	bool wanted = false, found = false;

	while (*globs != '\0') {
		const size_t n = glob_length(globs);
		const bool excludes = *globs == '!';
		const bool matches =
			glob_matches(globs + excludes, n - excludes, name);

		if (excludes && matches)
			return false;
		wanted |= !excludes;
		found |= !excludes && matches;
		globs += n + (globs[n] == ',');
	}
	return found || !wanted;
}

bool
follow_allows(const struct follow *f, const char *exe)
{
	/* Not wiped: the second call in an image comes from a fork's child. */
	static bool known, is_root;
	const bool forked = known;

	if (!known)
		is_root = !f->is_marked;
	known = true;
	return (is_root || f->execs) && (!forked || f->forks) &&
	       is_named(f->globs, exe);
}

void
follow_mark(char *const environment[])
{
	/*
	 * Only in the strings that the kernel has put on the stack: they are
	 * ours to write.  What another library has put there since may be a
	 * constant.
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
			*value = (char)(*value & ~CASE_BIT);
	}
}
