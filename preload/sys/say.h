/* SPDX-License-Identifier: MIT */
/*
 * say.h - one line to the user
 *
 * say() builds the line in a small buffer, without stdio, locale or heap, and
 * writes it with one write(2).  The writer thread has a descriptor table of its
 * own, and yet its lines go to the file that is the program's standard error at
 * the time of the call.
 */
#ifndef SAY_H
#define SAY_H

#include <stdbool.h>

/*
 * Write "hatftrace: ", the text and a line end to standard error.  'format' may
 * contain %s, %u (uint64_t) and %%.  Control characters, on which a terminal
 * could act, become '?'.  The line is dropped if writing it could block the
 * program or damage its data.
 */
void say(const char *format, ...);

/*
 * Tell say() that the program is about to install a filter of system calls.
 * From now on, say() makes as few system calls as possible.  If 'kills' is set,
 * say() writes nothing, since the filter may kill the process even for these
 * calls.
 */
void say_expect_filter(bool kills);

/*
 * Write the first line that the writer could not write because it could not
 * open standard error.  If there is no such line, make no system call.  A
 * thread of the program calls this after waiting for the writer.
 */
void say_rest(void);

/*
 * Return a static description of an errno value.  strerror() needs a locale and
 * may allocate.
 */
const char *say_errno(int e);

#endif /* SAY_H */
