/* SPDX-License-Identifier: MIT */
/*
 * nested_calls.h - allocators whose functions call one another by name
 *
 * For example, the malloc() of Electric Fence calls memalign(), and many a
 * small allocator's calloc() calls malloc().  The loader binds such a call to
 * our function, so the trace would have one block twice.  While a function of
 * such an allocator runs, the thread's calls are therefore not recorded.
 *
 * The price: if a signal handler interrupts a function of such an allocator,
 * the handler's own calls are not recorded either.  And if longjmp() or an
 * exception leaves such a function, the thread's later calls are not recorded.
 */
#ifndef NESTED_CALLS_H
#define NESTED_CALLS_H

/*
 * Find out whether the functions of the program's allocator call one another
 * by name, and if so, mute them.  Call this once, when the library is loaded,
 * after real_resolve_others().  jemalloc, tcmalloc and mimalloc do not need it:
 * only their operators call malloc() by name, for which interpose_cxx.c cares.
 */
void nested_calls_mute(void);

#endif /* NESTED_CALLS_H */
