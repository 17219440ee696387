/* SPDX-License-Identifier: MIT */
/*
 * remaining_threads.h - does the program have no thread left, one or several?
 *
 * The answers come from /proc/self/stat.  Its number of threads includes the
 * writer thread, but the functions below do not count the writer as a thread of
 * the program.
 */
#ifndef REMAINING_THREADS_H
#define REMAINING_THREADS_H

#include <stdbool.h>

/*
 * The writer thread calls this when it begins: forget the descriptors of an
 * earlier writer.
 */
void remaining_threads_init(void);

/*
 * The writer calls this before it limits its access to files (writer_reach.c):
 * open the process's folder in /proc.
 */
void remaining_threads_open_proc(void);

/*
 * The writer calls this while it may still open files: open the file that
 * remaining_threads_none() reads.
 */
void remaining_threads_open_stat(void);

/*
 * Have all threads of the program ended, so that only the writer keeps the
 * process alive?  If so, /proc/self describes the initial thread, which stays
 * as a zombie.  Store the status of the initial thread, in the form of wait(2),
 * in '*status_ret'.  The status tells, for example, that a seccomp filter has
 * killed the thread.
 */
bool remaining_threads_none(int *status_ret);

/*
 * Call this before the program installs a filter that kills the process for
 * reading /proc.  From now on remaining_threads_several() does not read /proc.
 */
void remaining_threads_end_looks(void);

/*
 * Does the program have more than one thread, including those that have
 * recorded nothing?  If 'has_writer' is set, the writer thread exists and is
 * not counted.  Return true if /proc cannot be read, or must not be read.
 */
bool remaining_threads_several(bool has_writer);

/*
 * Does the program have only one thread?  The answer is yes if no second thread
 * has got a HATF thread number.  Otherwise count the threads in /proc, and
 * return false if /proc cannot be read, or must not be read.
 */
bool remaining_threads_single(void);

#endif /* REMAINING_THREADS_H */
