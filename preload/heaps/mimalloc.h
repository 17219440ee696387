/* SPDX-License-Identifier: MIT */
/*
 * mimalloc.h - record what goes through mimalloc's own functions
 */
#ifndef OUR_MIMALLOC_H
#define OUR_MIMALLOC_H

#include <stdbool.h>

/*
 * Have all objects call what stands in front of it, if there is a mimalloc:
 * when all libraries of the start are loaded, and again when others are.
 */
void mimalloc_patch(void);

/* Might a function of this name be one of its? */
bool mimalloc_has(const char *name);

/* What stands in front of its function 'name', which is at 'real', or NULL. */
void *mimalloc_stand_in(const char *name, void *real);

#endif /* OUR_MIMALLOC_H */
