/* SPDX-License-Identifier: MIT */
/*
 * dlopened.h - objects that are loaded while the program runs
 *
 * What a program loads by dlopen(3) it finds by dlsym(3): a function of the
 * library itself, or the one of a plug-in that calls it.  So the places from
 * which objects call dlsym() are changed to call ours (see patch_calls.h),
 * which gives what stands in front of a function instead of it.
 *
 * dlopen() is not touched: what it does depends on where it is called from.
 * The loader has a slot of its own, which can be changed, by which it calls the
 * constructors of the objects that it has loaded: there we look at the new
 * objects, before any of their code runs.  With a loader without that slot we
 * look at the next dlsym().
 */
#ifndef DLOPENED_H
#define DLOPENED_H

/* Once, when the allocators of the start have been looked for. */
void dlopened_patch(void);

/*
 * Around a fork, in parent and child: the lock on the loader's list of objects,
 * which is held while we look at them, would stay locked in the child for ever.
 */
void dlopened_before_fork(void);
void dlopened_after_fork(void);

#endif /* DLOPENED_H */
