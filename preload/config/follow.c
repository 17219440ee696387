/* SPDX-License-Identifier: MIT */
/* follow.c - see follow.h */

#include "preload/config/follow.h"

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

static bool
set_globs(struct follow *f, const char *text)
{
	if (!globs_are_legal(text))
		return false;
	memcpy(f->globs, text, strlen(text) + 1);
	f->has_globs = true;
	return true;
}

bool
follow_parse(struct follow *f, const char *value)
{
	const char first = (char)(value[0] | CASE_BIT);

	f->is_marked = first != value[0];
	f->has_globs = false;
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
	       (!f->has_globs || globs_choose(f->globs, exe));
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
