/* SPDX-License-Identifier: MIT */
/*
 * settings.h - check the values of the recorder's environment variables
 *
 * A process that finds a wrong value runs untraced.  'hatf record' checks the
 * values first, so that the user learns of the mistake before the command runs.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

/*
 * Check 'value' for the environment variable 'variable' by the recorder's own
 * rules (hatf/recorder/config.h).  If the value is wrong, print a line that
 * starts with 'name', the variable or its option, and return false.
 */
bool settings_check(const char *name, const char *variable, const char *value);

/* Print that 'value' is wrong, without checking it.  Return false. */
bool settings_refuse(const char *name, const char *variable, const char *value);

/*
 * Like settings_check(), for each of the recorder's variables that the
 * environment sets, up to the first wrong value.  Skip the variables that 'hatf
 * record' itself sets.
 */
bool settings_check_environment(void);

#endif /* SETTINGS_H */
