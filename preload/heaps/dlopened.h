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
 * change this slot, and examine the new objects before any of their code runs.
 * If the loader has no such slot, we examine the objects in the next dlsym().
 */
#ifndef DLOPENED_H
#define DLOPENED_H

/*
 * Patch the calls of dlsym().  Call this once, when the allocators that were
 * loaded at the start are known.
 */
void dlopened_patch(void);

/*
 * Call these before and after a fork, the second one in parent and child.  They
 * keep other threads from examining new objects during the fork: a thread does
 * so under a lock of the loader, which would stay locked in the child.
 */
void dlopened_before_fork(void);
void dlopened_after_fork(void);

#endif /* DLOPENED_H */
