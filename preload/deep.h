/* SPDX-License-Identifier: MIT */
/*
 * deep.h - objects whose calls the loader binds past us
 *
 * An object that is loaded with RTLD_DEEPBIND looks for malloc() in itself and in the
 * libraries that it needs first, and finds libc's.  Where its places for addresses
 * (see patch.h) hold what we would have called for it, they get our function.  That
 * is done before its constructors run: see late.h.
 */
#ifndef DEEP_H
#define DEEP_H

#include <stdbool.h>

/*
 * Look at the objects that were loaded since the last time, which must have been
 * relocated.  'in_time': none of their code has run.  If some has, or if an object
 * takes its blocks from another allocator than the rest, the trace is told that
 * calls were missed.
 */
void deep_follow(bool in_time);

#endif /* DEEP_H */
