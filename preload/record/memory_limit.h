/* SPDX-License-Identifier: MIT */
/*
 * memory_limit.h - what a limit on the program's memory leaves for the tracer
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
 * The same of shared memory, for any thread of the program: takes it out of
 * what the writer says is left.  Waits for that, if there is a limit.
 */
bool memory_limit_take(size_t shared_nbytes);

/* Writer: tell those who ask. */
void memory_limit_answer(void);

#endif /* MEMORY_LIMIT_H */
