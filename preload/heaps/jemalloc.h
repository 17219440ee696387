/* SPDX-License-Identifier: MIT */
/*
 * jemalloc.h - record the calls of jemalloc's own functions
 */
#ifndef OUR_JEMALLOC_H
#define OUR_JEMALLOC_H

#include <stdbool.h>

#include "preload/heaps/known_objects.h"

/*
 * If jemalloc is loaded, make other objects call our replacements of its
 * functions (interpose_jemalloc.c).  Call this when the libraries that the
 * program needs are loaded, and again after each later load.  Skip the 'known'
 * objects, which an earlier call has patched.  If 'known' is NULL, skip none.
 */
void jemalloc_patch(const struct known_objects *known);

/* Is jemalloc loaded, and do we have a replacement of its function 'name'? */
bool jemalloc_has(const char *name);

/*
 * If the function 'name' at the address 'real' is jemalloc's, return our
 * replacement.  Otherwise return NULL.
 */
void *jemalloc_stand_in(const char *name, void *real);

#endif /* OUR_JEMALLOC_H */
