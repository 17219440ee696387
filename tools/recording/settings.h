/* SPDX-License-Identifier: MIT */
/*
 * settings.h - are these values of the recorder's variables right?
 *
 * A process that finds a wrong value runs untraced.  'hatf record' checks the values
 * first, so that the user learns of the mistake before the command runs.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

/*
 * Check 'value' for the environment variable 'variable' by the recorder's own rules
 * (hatf/recorder/config.h).  If the value is wrong, say so in one line that begins
 * with 'name', the variable or its option, and return false.
 */
bool settings_check(const char *name, const char *variable, const char *value);

/* Say that 'value' is wrong, whatever the rules are.  Returns false. */
bool settings_refuse(const char *name, const char *variable, const char *value);

/* Check in the same way each variable that the environment sets. */
bool settings_check_environment(void);

#endif /* SETTINGS_H */
