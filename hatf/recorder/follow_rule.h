/* SPDX-License-Identifier: MIT */
/*
 * follow_rule.h - the value of HATFTRACE_FOLLOW: which descendants are traced
 *
 * The value is "WORD" or "WORD:GLOB,...", where WORD is none, fork, exec or
 * all.  In the environment of a traced process, the recorder makes the first
 * letter of WORD a capital (preload/config/follow.h explains why).
 * follow_parse() runs in a traced program: it allocates nothing, takes no lock
 * and leaves errno alone.
 */
#ifndef FOLLOW_RULE_H
#define FOLLOW_RULE_H

#include "hatf/recorder/globs.h"

#include <stdbool.h>

/* A letter and its capital differ only in this bit. */
#define FOLLOW_MARK_BIT 0x20

struct follow {
	bool forks, execs;
	bool is_marked; /* the first letter of WORD is a capital */
	bool has_globs;
	char *globs; /* memory for GLOBS_NBYTES bytes, which the caller owns */
};

/* Parse the value of HATFTRACE_FOLLOW; false if it is invalid. */
bool follow_parse(struct follow *f, const char *value);

#endif /* FOLLOW_RULE_H */
