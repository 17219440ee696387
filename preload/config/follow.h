/* SPDX-License-Identifier: MIT */
/*
 * follow.h - which processes of a tree are traced: HATFTRACE_FOLLOW
 *
 * The first traced process is the root of the tree.  The child of a fork
 * inherits memory which shows that the child is a descendant.  A program
 * started by exec inherits no memory, and sees the same environment as the
 * root.  Therefore the root, the first process that reads HATFTRACE_FOLLOW,
 * marks the variable in place, in its own initial environment, by making the
 * first letter a capital ("none" becomes "None").  A process that passes its
 * environment to another program also passes the mark, whether by exec,
 * posix_spawn, system or a raw system call.  A process that builds a new
 * environment with an unmarked HATFTRACE_FOLLOW starts a new tree.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "hatf/recorder/follow_rule.h"

#include <stdbool.h>

/*
 * Does the rule 'f' allow tracing the calling process, whose executable has the
 * base name 'exe'?  The thread that starts the trace calls this function once
 * in each process, before the trace begins.
 */
bool follow_allows(const struct follow *f, const char *exe);

/*
 * Mark HATFTRACE_FOLLOW in 'environment'.  Call this after reading the
 * variable's value.  Do nothing if the variable is not set, or if the program
 * has set it (hide_library_may_change()).
 */
void follow_mark(char *const environment[]);

#endif /* FOLLOW_H */
