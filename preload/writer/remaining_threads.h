/* SPDX-License-Identifier: MIT */
/*
 * remaining_threads.h - how many threads of the process exist, by the kernel
 *
 * Reads /proc/self/stat, which counts the writer thread too; libc does not know
 * that thread.
 */
#ifndef REMAINING_THREADS_H
#define REMAINING_THREADS_H

#include <stdbool.h>

/* The writer thread begins: forget the descriptor of an earlier writer. */
void remaining_threads_init(void);

/* The writer: open the process's folder in /proc, before it is out of reach. */
void remaining_threads_open_proc(void);

/* The writer, before it may open no more files: open what is read below. */
void remaining_threads_open_stat(void);

/*
 * Have all threads of the program ended, without ending the process?  Then only
 * the writer keeps it alive.  /proc/self describes the initial thread, which
 * stays as a zombie.  '*status_ret' is the status of that thread, as of
 * wait(2): a filter may have ended it by a signal.
 */
bool remaining_threads_none(int *status_ret);

/*
 * Has the program more than one thread, counting those that have recorded
 * nothing?  'has_writer': the writer thread exists, and is not counted.  True
 * if /proc cannot be read.
 */
bool remaining_threads_several(bool has_writer);

/* Has the program one thread only?  False if /proc cannot be read. */
bool remaining_threads_single(void);

#endif /* REMAINING_THREADS_H */
