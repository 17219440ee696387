/* SPDX-License-Identifier: MIT */
/*
 * say.h - one line to the user
 *
 * Builds the line in a small buffer without stdio, locale or memory, and writes
 * it with one system call.  From the writer thread, which has no descriptor of
 * the program's, it goes to whatever the program's standard error is then.
 */
#ifndef SAY_H
#define SAY_H

#include <stdbool.h>

/*
 * Write "hatftrace: ", the text and a line end to standard error.  'format'
 * knows %s, %u (uint64_t) and %%; bytes that a terminal could act on become
 * '?'.
 */
void say(const char *format, ...);

/*
 * A filter comes: from now on a line is written by as few calls as can be.
 * 'kills': the filter may kill for these, too, so no line is written.
 */
void say_expect_filter(bool kills);

/*
 * For a thread of the program that has waited for the writer: write the line
 * that the writer could not write for lack of a descriptor.  Without such a
 * line it makes no system call.
 */
void say_rest(void);

/*
 * The words for an errno value; static.  strerror() is for those with a locale.
 */
const char *say_errno(int e);

#endif /* SAY_H */
