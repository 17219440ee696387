/* SPDX-License-Identifier: MIT */
/*
 * remaining_threads.h - count the threads of the process that exist
 *
 * These functions read /proc/self/stat, which also counts the writer thread.
 */
#ifndef REMAINING_THREADS_H
#define REMAINING_THREADS_H

#include <stdbool.h>

/* The writer thread begins: forget the descriptor of an earlier writer. */
void remaining_threads_init(void);

/* The writer: open the process's folder in /proc, while that is possible. */
void remaining_threads_open_proc(void);

/* The writer, before it may open no more files: open what is read below. */
void remaining_threads_open_stat(void);

/*
 * Have all threads of the program ended, so that only the writer keeps the
 * process alive?  /proc/self describes the initial thread, which stays as a
 * zombie.  '*status_ret' is the status of that thread, as of wait(2): a filter
 * may have ended the thread by a signal.
 */
bool remaining_threads_none(int *status_ret);

/* A filter comes that kills for reading /proc: read it no more. */
void remaining_threads_end_looks(void);

/*
 * Does the program have more than one thread, including those that have
 * recorded nothing?  'has_writer': the writer thread exists; do not count it.
 * True if /proc cannot be read.
 */
bool remaining_threads_several(bool has_writer);

/* Does the program have only one thread?  False if /proc cannot be read. */
bool remaining_threads_single(void);

#endif /* REMAINING_THREADS_H */
