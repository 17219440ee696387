/* SPDX-License-Identifier: MIT */
/* follow_rule.c - see follow_rule.h */
#include "hatf/recorder/follow_rule.h"

#include <stddef.h>
#include <string.h>

static const struct {
	/* WORD (follow_rule.h) without its first letter */
	const char *rest;
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
	const char first = (char)(value[0] | FOLLOW_MARK_BIT);

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
