/* SPDX-License-Identifier: MIT */
/*
 * sized.h - copy structs of callers that know another version of hatf.h
 *
 * The first member of such a struct, 'struct_nbytes', is the size of the struct
 * in the version of hatf.h that the caller was compiled with (hatf.h,
 * "Growth").  All access to the caller's struct goes through these two
 * functions; the library works on a copy that has the size of the struct in the
 * library's version.
 */
#ifndef HATF_SIZED_H
#define HATF_SIZED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The largest size that is accepted: no version of any struct is larger, so a
 * larger size means that the caller has not set the size.  The largest struct
 * contains a path of 4096 bytes.
 */
#define SIZED_MAX 65536

/*
 * Copy 'given', the caller's struct, to 'own', which has 'own_nbytes' bytes.
 * Set 'struct_nbytes' of the copy to 'own_nbytes'.  Members that the caller's
 * struct lacks become 0.  If 'given' is NULL, all members but 'struct_nbytes'
 * become 0.  Return false if the caller's size is impossible, or if 'given' has
 * a nonzero member that this version does not know.
 */
bool sized_take(void *own, size_t own_nbytes, const void *given);

/*
 * Copy 'own' to 'given', the caller's struct, except 'struct_nbytes', which
 * keeps its value.  If the caller's struct is shorter than 'own', truncate the
 * copy; if it is longer, set the members that 'own' lacks to 0.  Do nothing if
 * the caller's size is impossible.
 */
void sized_give(void *given, const void *own, size_t own_nbytes);

#endif /* HATF_SIZED_H */
