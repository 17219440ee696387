/* SPDX-License-Identifier: MIT */
/*
 * memory_limit.h - how much memory the recorder may take under a limit
 *
 * Under RLIMIT_AS or RLIMIT_DATA every mapping of ours is one that the program
 * may lack.  So the tracer takes at most a quarter of what the program does not
 * use itself at the time, but for the table that segments begin from
 * (live_blocks.h).  What it does without is counted as missing.  Where nothing
 * is limited nothing is asked.
 *
 * What is in use is read from /proc, which only the writer does and the thread
 * that starts the trace: a filter on system calls may forbid it to the
 * program's threads.  They ask the writer.
 */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Is there a limit?  If not, everything below is allowed. */
bool memory_limit_exists(void);

/*
 * May so much be mapped, private and shared?  Not where there is a limit and
 * what is in use cannot be found out.  Writer thread, or the one that starts
 * the trace.
 */
bool memory_limit_allows(size_t private_nbytes, size_t shared_nbytes);

/*
 * Any thread of the program: take 'shared_nbytes' out of the shared memory that
 * is left.  Under a limit, ask the writer and wait for its answer, at most two
 * seconds.  False: not enough is left, or no answer came.  May change errno.
 */
bool memory_limit_take(size_t shared_nbytes);

/* Writer: answer the threads that wait in memory_limit_take(). */
void memory_limit_answer(void);

#endif /* MEMORY_LIMIT_H */
