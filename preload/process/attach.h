/* SPDX-License-Identifier: MIT */
/*
 * attach.h - a thread of the program gets a ring to record into
 *
 * attach_thread() and attach_nested() are the only functions of the process's
 * side that the recording side calls (record_steps.c): a thread is attached
 * by its first event, and the first event of all starts the trace.  The
 * thread's own first events go back into record.c.
 */
#ifndef ATTACH_H
#define ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/record/thread.h"

/*
 * Attach the calling thread, which must not be attached; start the process's
 * trace if need be.  'parent' and 'start' are for createThread (0, 0: not
 * known).  NULL: nothing is traced.  Keeps errno.
 */
struct thread *attach_thread(uint64_t parent, uint64_t start);

/* Like attach_thread(), for a handler that interrupted a recording of 't'. */
struct thread *attach_nested(struct thread *t);

/*
 * The process will have a second thread: start the trace if need be, and stamp
 * from now on.  Returns whether events are recorded.  Keeps errno.
 */
bool attach_expect_thread(void);

#endif /* ATTACH_H */
