/* SPDX-License-Identifier: MIT */
/*
 * environment.h - the configuration of this process, from its environment
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include "hatf/recorder/config.h"

/*
 * Fill '*config_ret' from 'environment' (as environ(7)).  Return false if a
 * value is wrong or valgrind runs the program, after one line on stderr; the
 * line about valgrind goes to the notes file instead if there is one.
 * Allocates nothing.
 */
bool environment_read(char *const environment[], struct config *config_ret);

/*
 * The configuration of this process.  The thread that starts the trace fills it
 * by environment_read_own(), with the result of environment_read(); from then
 * on it is constant, and any thread may read it.  Before, it is unset.
 */
bool environment_read_own(char *const environment[]);
const struct config *environment_own(void);

/* Record no call stacks after all.  By the same thread, before the start. */
void environment_forgo_stacks(void);

#endif /* ENVIRONMENT_H */
