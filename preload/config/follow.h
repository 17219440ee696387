/* SPDX-License-Identifier: MIT */
/*
 * follow.h - which processes of a tree are traced: HATFTRACE_FOLLOW
 *
 * The first traced process is the root of the tree.  The child of a fork finds
 * out that it is one from the memory that it inherits.  A new image after exec
 * cannot: it sees the same environment as the root.  Therefore the first image
 * that reads HATFTRACE_FOLLOW marks the variable in place, in its own initial
 * environment, by making the first letter a capital ("none" becomes "None").
 * Each process that passes its environment on passes the mark on, whether by
 * exec, posix_spawn, system or a raw system call.  A process that builds a new
 * environment with an unmarked HATFTRACE_FOLLOW starts a new tree.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "hatf/recorder/follow_rule.h"

#include <stdbool.h>

/*
 * Does the rule 'f' allow tracing the calling process, whose executable has the
 * base name 'exe'?  The thread that starts the trace calls it, once in each
 * process, before the trace begins.
 */
bool follow_allows(const struct follow *f, const char *exe);

/*
 * Mark the variable in 'environment', after its value has been read.  Does
 * nothing if it is not set.
 */
void follow_mark(char *const environment[]);

#endif /* FOLLOW_H */
