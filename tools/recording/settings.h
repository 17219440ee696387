/* SPDX-License-Identifier: MIT */
/*
 * settings.h - are these values of the recorder's variables right?
 *
 * A process whose libhatftrace.so is told what it cannot do runs untraced, which
 * nobody wants to learn after an hour.  preload/config/config.c has the same rules.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

/* Say what is wrong with 'value' of the option or variable 'name', if it is, and
 * return false. */
bool settings_check_rotate(const char *name, const char *value);
bool settings_check_keep(const char *name, const char *value);
bool settings_check_rings(const char *name, const char *value);

/* Likewise, for a variable that takes one of some words; 'name' is it or its
 * option. */
bool settings_check_word(const char *name, const char *variable,
			 const char *value);

/* Likewise for these variables of our own environment. */
bool settings_check_environment(void);

#endif /* SETTINGS_H */
