/* SPDX-License-Identifier: MIT */
/*
 * follow.h - which processes of a tree are traced: HATFTRACE_FOLLOW
 *
 * The process that others start is the root.  Its descendants come about by
 * fork, which memory tells, and by exec, which nothing tells: a new image finds
 * the same environment as the root.  So the first image that reads
 * HATFTRACE_FOLLOW marks it, in place, in its own initial environment: the
 * first letter becomes a capital
 * ("none" turns "None").  Whatever passes its environment on passes the mark
 * on, by whichever way: exec, posix_spawn, system, a raw system call.  One that
 * makes a new environment with HATFTRACE_FOLLOW in it starts a new tree.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "hatf/recorder/follow_rule.h"

#include <stdbool.h>

/*
 * May the calling process, whose executable has this base name, be traced?  To
 * be called once in each process that may be, before its trace begins.
 */
bool follow_allows(const struct follow *f, const char *exe);

/* Mark the variable; once its value has been read.  Does nothing without it. */
void follow_mark(char *const environment[]);

#endif /* FOLLOW_H */
