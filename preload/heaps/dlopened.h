/* SPDX-License-Identifier: MIT */
/*
 * dlopened.h - objects that are loaded while the program runs
 *
 * A program loads a library by dlopen(3), and finds the library's functions by
 * dlsym(3).  We change the slots through which objects call dlsym() (see
 * patch_calls.h).  If we have a replacement of a function, our dlsym() returns
 * the replacement.
 *
 * dlopen() itself is not replaced, since its effect depends on its caller.  The
 * loader calls the constructors of new objects through a slot of its own.  We
 * change this slot, and examine the new objects before any of their code runs.
 * If the loader has no such slot, we examine the objects in the next dlsym().
 */
#ifndef DLOPENED_H
#define DLOPENED_H

/*
 * Patch the calls of dlsym(), the loader's slot, the objects that deep_bound.h
 * describes and, if jemalloc or mimalloc is loaded, the calls of its functions.
 * Call this once, when the libraries that the program needs are loaded.
 */
void dlopened_patch(void);

/*
 * Call dlopened_before_fork() before a fork, and dlopened_after_fork() in
 * parent and child.  A thread examines new objects under a lock of the loader.
 * If a thread examined objects during the fork, the loader's lock would stay
 * locked in the child.  These functions prevent this.
 */
void dlopened_before_fork(void);
void dlopened_after_fork(void);

#endif /* DLOPENED_H */
