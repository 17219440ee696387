/* SPDX-License-Identifier: MIT */
/*
 * hide_library.h - keep this library out of programs that are executed later
 */
#ifndef HIDE_LIBRARY_H
#define HIDE_LIBRARY_H

#include <stdbool.h>

/*
 * Is 'string' one that the kernel put on the stack when the process started?
 * Only such strings may be changed, because a string that the program has put
 * into its environment may be a constant.
 */
bool hide_library_may_change(const char *string);

/*
 * Remove the recorder from the string LD_PRELOAD in 'environment', an array as
 * in environ(7).  Change the string in place, and only if
 * hide_library_may_change() allows a change.  A program that the process
 * executes later then runs without the recorder, whether the program gets this
 * environment or another array with the changed string.  Another thread may
 * read the environment at the same time.  This function allocates nothing and
 * makes no system call.
 */
void hide_library(char *const environment[]);

#endif /* HIDE_LIBRARY_H */
