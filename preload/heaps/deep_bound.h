/* SPDX-License-Identifier: MIT */
/*
 * deep_bound.h - objects whose calls the loader binds past us
 *
 * The loader looks for the malloc() of an object that is loaded with
 * RTLD_DEEPBIND in the object itself and in the libraries that it needs first,
 * and finds libc's.  Where a slot of the object (see patch_calls.h) holds the
 * function that ours would have called, it gets our function.  That is done
 * before its constructors run: see dlopened.h.
 */
#ifndef DEEP_BOUND_H
#define DEEP_BOUND_H

#include <stdbool.h>

/*
 * Patch the objects that were loaded since the last time, which must have been
 * relocated.  'in_time': none of their code has run.  If some has, or if an
 * object takes its blocks from another allocator than the rest,
 * missed_calls_note() records that calls were missed.
 */
void deep_bound_patch(bool in_time);

#endif /* DEEP_BOUND_H */
