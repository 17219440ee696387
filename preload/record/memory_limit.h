/* SPDX-License-Identifier: MIT */
/*
 * memory_limit.h - how much memory the recorder may take under a limit
 *
 * RLIMIT_AS and RLIMIT_DATA count the recorder's memory, too, and so leave less
 * for the program.  The recorder therefore takes at most a quarter of the
 * memory that the program does not use at the time.  An exception is the table
 * of live blocks (live_blocks.h), which may take more.  If the recorder lacks
 * memory for events, it counts the events as lost.  Without a limit, nothing is
 * checked.
 *
 * The number of bytes in use comes from /proc.  Only the writer thread and the
 * thread that starts the trace read /proc.  Other threads ask the writer, since
 * a filter of system calls may forbid them to open files.
 */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Is there a limit?  Without a limit, the functions below allow everything. */
bool memory_limit_exists(void);

/*
 * May the recorder map 'private_nbytes' of private and 'shared_nbytes' of
 * shared memory?  Also return false if there is a limit and /proc cannot be
 * read.  Only the writer thread and the thread that starts the trace may call
 * this.  Keeps errno.
 */
bool memory_limit_allows(size_t private_nbytes, size_t shared_nbytes);

/*
 * Take 'shared_nbytes' of the memory that the recorder may still map.  If there
 * is a limit, ask the writer and wait at most two seconds for the answer.
 * Return false if too little is left, or if no answer came.  Any thread of the
 * program may call this.  May change errno.
 */
bool memory_limit_take(size_t shared_nbytes);

/*
 * The writer thread calls this: answer the threads that wait in
 * memory_limit_take().
 */
void memory_limit_answer(void);

#endif /* MEMORY_LIMIT_H */
