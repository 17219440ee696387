/* SPDX-License-Identifier: MIT */
/*
 * environment.h - the configuration of this process, from its environment
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include "hatf/recorder/config.h"

/*
 * Fill '*config_ret' from 'environment' (as environ(7)).  On a wrong value, or
 * where valgrind runs the program, writes one line to stderr and returns false.
 * Allocates nothing.
 */
bool environment_read(char *const environment[], struct config *config_ret);

/*
 * The settings of this process, which the thread that starts its trace reads
 * from 'environment', as above.  Constant from then on; what they say before is
 * of no use.
 */
bool environment_read_own(char *const environment[]);
const struct config *environment_own(void);

#endif /* ENVIRONMENT_H */
