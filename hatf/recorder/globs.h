/* SPDX-License-Identifier: MIT */
/*
 * globs.h - lists of globs of executables: the GLOB,... of HATFTRACE_FOLLOW
 *
 * "A,!B": globs with commas between them.  In a glob '*' stands for any bytes
 * and '?' for any one byte; '!' in front of a glob excludes what the glob
 * matches.
 *
 * The recorder and 'hatf record' both decide by these functions, so they decide
 * the same.  The functions run in a traced program: they allocate nothing, take
 * no lock and leave errno alone.
 */
#ifndef HATF_GLOBS_H
#define HATF_GLOBS_H

#include <stdbool.h>

/* As long as a list may be, with its NUL. */
#define GLOBS_NBYTES 1024

/* Is it short enough, and is no glob of it empty? */
bool globs_are_legal(const char *globs);

/*
 * Does the list choose this name?  It does if no glob with '!' matches, and
 * some glob without '!' does or there is none of these.  Takes time in
 * proportion to the length of the list times that of the name.
 */
bool globs_choose(const char *globs, const char *name);

#endif /* HATF_GLOBS_H */
