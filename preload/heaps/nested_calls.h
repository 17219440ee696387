/* SPDX-License-Identifier: MIT */
/*
 * nested_calls.h - allocators whose functions call one another by name
 *
 * For example, the malloc() of Electric Fence calls memalign(), and many a
 * small allocator's calloc() calls malloc().  The loader binds such a call to
 * our function, so the trace would have one block twice.  We therefore change
 * the slots (patch_calls.h) through which the allocator's object calls these
 * functions.  While a call from the recorder to the allocator is in progress, a
 * call through such a slot goes straight to the allocator.  All other calls are
 * recorded as usual: those of the object's other functions, and those of a
 * signal handler that interrupts the allocator.
 *
 * The price: if a longjmp() leaves a function of the allocator, later calls of
 * this thread through these slots are not recorded.
 */
#ifndef NESTED_CALLS_H
#define NESTED_CALLS_H

/*
 * Find out whether the functions of the program's allocator call one another by
 * name, and if so, change the slots of these calls.  Call this once, when the
 * recorder is loaded.  Call dlopened_patch() first, since dlopened_patch()
 * would mistake the changed slots for slots that call another allocator.
 * jemalloc, tcmalloc and mimalloc do not need this change: only their operators
 * call malloc() by name, and interpose_cxx.c counts such an allocation once.
 */
void nested_calls_patch(void);

#endif /* NESTED_CALLS_H */
