/* SPDX-License-Identifier: MIT */
/*
 * jemalloc.h - record what goes through jemalloc's own functions
 */
#ifndef OUR_JEMALLOC_H
#define OUR_JEMALLOC_H

#include <stdbool.h>

/*
 * Have all objects call what stands in front of it, if there is a jemalloc:
 * when all libraries of the start are loaded, and again when others are.
 */
void jemalloc_patch(void);

/* Might a function of this name be one of its? */
bool jemalloc_has(const char *name);

/* What stands in front of its function 'name', which is at 'real', or NULL. */
void *jemalloc_stand_in(const char *name, void *real);

#endif /* OUR_JEMALLOC_H */
