/* SPDX-License-Identifier: MIT */
/*
 * globs.h - match the name of an executable: the GLOB,... of HATFTRACE_FOLLOW
 *
 * A list is globs with commas between them, such as "A,!B".  In a glob '*'
 * stands for any bytes and '?' for any one byte; '!' in front of a glob
 * excludes the names that the glob matches.
 *
 * The recorder and 'hatf record' both use these functions, so they choose the
 * same names.  The functions run in a traced program: they do not allocate,
 * lock, make a system call or change errno.  Any thread may call them.
 */
#ifndef HATF_GLOBS_H
#define HATF_GLOBS_H

#include <stdbool.h>

/* Maximum length of a list in bytes, including its NUL. */
#define GLOBS_NBYTES 1024

/*
 * Is the list valid?  It must be shorter than GLOBS_NBYTES, and no glob may be
 * empty (such as "" or "!").
 */
bool globs_are_legal(const char *globs);

/*
 * Does the list choose 'name'?  It does if no glob with '!' matches the name
 * and, provided that the list has globs without '!', one of these matches the
 * name.  The function takes time proportional to the length of the list times
 * the length of the name.
 */
bool globs_choose(const char *globs, const char *name);

#endif /* HATF_GLOBS_H */
