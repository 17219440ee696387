/* SPDX-License-Identifier: MIT */
/*
 * means.h - calls after which the recorder may be unable to begin a trace
 *
 * The recorder makes the trace file and the writer thread of a process only
 * when they are needed (writer.h).  If the program is about to lower a limit or
 * to change mounts, the recorder makes the file and the thread before the call.
 *
 * An exception is a clone(2) whose child shares the root directory of the
 * process.  The child may change the root directory of both.  Yet such a call
 * does not begin the trace, because Chromium's zygote makes such a child, and
 * must be single-threaded.
 */
#ifndef MEANS_H
#define MEANS_H

#include <stdint.h>

/*
 * The program is about to make the system call 'number'; 'a' to 'c' are the
 * first three arguments.  If the call may make it impossible to begin the trace
 * later, begin the trace now.  In a dormant process, only prepare the trace
 * (writer_make_early()).  If the call limits the size of files, write the
 * events so far to the file.  Any thread of the program may call this function.
 * It keeps errno.  In an untraced process it accesses no thread-local memory.
 */
void means_watch(uint64_t number, uint64_t a, uint64_t b, uint64_t c);

#endif /* MEANS_H */
