/* SPDX-License-Identifier: MIT */
/*
 * remaining_threads.h - which threads of the process are left, as the kernel
 * tells
 *
 * For the writer thread, of which libc knows nothing; reads /proc/self/stat.
 */
#ifndef REMAINING_THREADS_H
#define REMAINING_THREADS_H

#include <stdbool.h>

/* The writer thread begins, without the descriptors of one before it. */
void remaining_threads_init(void);

/* The writer: open the process's folder in /proc, which may come out of
 * reach. */
void remaining_threads_open_proc(void);

/*
 * Have all other threads left, by ways that do not end the process?  Then only
 * we keep it from ending.  /proc/self is the process, that is its initial
 * thread, which stays as a zombie.  '*status_ret' is the exit status that it
 * left.
 */
bool remaining_threads_none(int *status_ret);

/*
 * Has the program more than one thread, also counting those that have recorded
 * nothing?  'has_writer': the writer thread exists, and does not count.  When
 * in doubt, yes.
 */
bool remaining_threads_several(bool has_writer);

/* Has this process one thread, beside the writer?  When in doubt, no. */
bool remaining_threads_single(void);

#endif /* REMAINING_THREADS_H */
