/* SPDX-License-Identifier: MIT */
/*
 * environment.h - the configuration of this process, from its environment
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include "hatf/recorder/config.h"

/*
 * Read 'environment', an array as in environ(7), into '*config_ret', and return
 * true.  If a value is wrong, or if valgrind runs the program, print one line
 * on stderr and return false.  If there is a notes file, the line about
 * valgrind goes to that file instead of stderr.  This function allocates
 * nothing.
 */
bool environment_read(char *const environment[], struct config *config_ret);

/*
 * The configuration of this process.  The thread that starts the trace calls
 * environment_read_own(), which fills the configuration and returns the result
 * of environment_read().  After that call only environment_forgo_stacks()
 * changes the configuration, and any thread may read it.
 */
bool environment_read_own(char *const environment[]);
const struct config *environment_own(void);

/*
 * Record no call stacks, whatever the settings say.  The thread that starts the
 * trace calls this before the trace starts.
 */
void environment_forgo_stacks(void);

#endif /* ENVIRONMENT_H */
