/* SPDX-License-Identifier: MIT */
/*
 * mimalloc.h - record the calls of mimalloc's own functions
 */
#ifndef OUR_MIMALLOC_H
#define OUR_MIMALLOC_H

#include <stdbool.h>

#include "preload/heaps/known_objects.h"

/*
 * If mimalloc is loaded, make other objects call our replacements of its
 * functions.  Call this when the libraries that the program needs are loaded,
 * and again after each later load.  Skip the 'known' objects, which an earlier
 * call has patched.  If 'known' is NULL, skip none.
 */
void mimalloc_patch(const struct known_objects *known);

/* Is mimalloc loaded, and do we have a replacement of its function 'name'? */
bool mimalloc_has(const char *name);

/*
 * If the function 'name' at the address 'real' is mimalloc's, return our
 * replacement.  Otherwise return NULL.
 */
void *mimalloc_stand_in(const char *name, void *real);

#endif /* OUR_MIMALLOC_H */
