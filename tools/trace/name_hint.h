/* SPDX-License-Identifier: MIT */
/* name_hint.h - suggest a program that resolves more names of a trace */
#ifndef NAME_HINT_H
#define NAME_HINT_H

#include "hatf/hatf.h"

/*
 * Return a static text that names a program which can add names to the trace;
 * NULL if no such program is known.
 */
const char *name_hint_find(const struct hatf_reader *reader);

#endif /* NAME_HINT_H */
