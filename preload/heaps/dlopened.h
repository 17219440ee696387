/* SPDX-License-Identifier: MIT */
/*
 * dlopened.h - objects that are loaded while the program runs
 *
 * A program finds the functions of a library that it loads with dlopen(3) by
 * dlsym(3).  So we change the slots through which objects call dlsym() (see
 * patch_calls.h).  Our dlsym() returns our replacement of a function instead of
 * the function.
 *
 * dlopen() itself is not replaced, since its effect depends on its caller.  The
 * loader calls the constructors of new objects through a slot of its own.  We
 * change this slot, and look at the new objects before any of their code runs.
 * If the loader has no such slot, we look at them in the next dlsym().
 */
#ifndef DLOPENED_H
#define DLOPENED_H

/* Call once, after the allocators that are loaded at the start are known. */
void dlopened_patch(void);

/*
 * Call these around a fork, in parent and child.  Looking at the loader's list
 * of objects takes a lock, which must not stay locked in the child.
 */
void dlopened_before_fork(void);
void dlopened_after_fork(void);

#endif /* DLOPENED_H */
