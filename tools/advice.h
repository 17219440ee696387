/* SPDX-License-Identifier: MIT */
/*
 * advice.h - what would make more of a trace
 */
#ifndef ADVICE_H
#define ADVICE_H

#include "hatf.h"

/* What another program could add to the names in a trace; a static text, or NULL. */
const char *advice_on(const struct hatf_reader *reader);

#endif /* ADVICE_H */
