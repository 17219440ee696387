/* SPDX-License-Identifier: MIT */
/*
 * deep_bound.h - objects whose calls do not reach us (RTLD_DEEPBIND)
 *
 * If an object is loaded with RTLD_DEEPBIND, the loader first searches this
 * object and the libraries that it needs.  The loader therefore binds a call of
 * malloc() to libc's function and not to ours.  If a slot of the object (see
 * patch_calls.h) holds a function that we wrap, we store our function there.
 * With most loaders, we do this before the object's constructors run: see
 * dlopened.h.
 */
#ifndef DEEP_BOUND_H
#define DEEP_BOUND_H

#include <stdbool.h>

#include "preload/heaps/known_objects.h"

/*
 * Patch all loaded objects except those in 'known'.  If 'known' is NULL, patch
 * all.  The loader must have relocated the objects.  'in_time' means that no
 * code of these objects has run.  If 'in_time' is false, report by
 * missed_calls_note() that earlier calls of a patched object may have been
 * missed.  If an object uses a different allocator from the rest of the
 * program, report that the calls of this object are missed.
 */
void deep_bound_patch(bool in_time, const struct known_objects *known);

#endif /* DEEP_BOUND_H */
