/* SPDX-License-Identifier: MIT */
/*
 * sized.h - structs of callers, which may be older or newer than the library
 *
 * The first member of such a struct, 'struct_nbytes', is its size in the
 * version of hatf.h that the caller was compiled with (hatf.h, "Growth").  All
 * access to the caller's struct goes through these two functions; the library
 * works on a copy of its own version.
 */
#ifndef HATF_SIZED_H
#define HATF_SIZED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A larger size is no struct of any version: the caller has not set it.  The
 * largest has a path of 4096 bytes.
 */
#define SIZED_MAX 65536

/*
 * Copy the struct of a caller to 'own', of 'own_nbytes' bytes.  What the caller
 * lacks becomes 0; NULL is all 0.  False if the size is impossible, or if the
 * caller has set something that this version does not know.
 */
bool sized_take(void *own, size_t own_nbytes, const void *given);

/*
 * Copy 'own' to the struct of a caller, as far as that reaches, and fill what
 * is beyond with 0.  Does nothing if the size is impossible.
 */
void sized_give(void *given, const void *own, size_t own_nbytes);

#endif /* HATF_SIZED_H */
