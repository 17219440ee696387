/* SPDX-License-Identifier: MIT */
/*
 * means.h - calls that may take away the means to begin a trace
 *
 * The trace file and the writer thread of a process are made only after some
 * events.  If the program is about to lower a limit or to change mounts, the
 * trace begins before that.
 *
 * It does not begin before a clone(2) whose child shares the root directory and
 * may change it: the zygote of Chromium makes such a child, and must be
 * single-threaded.
 */
#ifndef MEANS_H
#define MEANS_H

#include <stdint.h>

/*
 * The program is about to make the system call 'number', of which 'a' to 'c'
 * are the first three arguments: begin the trace if the call may make that
 * impossible.  If it limits the size of files, also write the events so far to
 * the file.  Any thread of the program may call this.  It keeps errno, and
 * touches nothing that is thread-local unless the process is traced.
 */
void means_watch(uint64_t number, uint64_t a, uint64_t b, uint64_t c);

#endif /* MEANS_H */
