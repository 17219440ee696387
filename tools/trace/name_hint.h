/* SPDX-License-Identifier: MIT */
/*
 * name_hint.h - what would make more of a trace
 */
#ifndef NAME_HINT_H
#define NAME_HINT_H

#include "hatf/hatf.h"

/* What another program could add to the names in a trace; a static text, or NULL. */
const char *name_hint_find(const struct hatf_reader *reader);

#endif /* NAME_HINT_H */
