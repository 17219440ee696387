/* SPDX-License-Identifier: MIT */
/*
 * attach.h - give a thread of the program a ring to record into
 *
 * The initial thread is attached when the library is loaded, and a thread of
 * pthread_create() when it starts.  A thread that is not attached yet is
 * attached at its first event, which also starts the trace if the trace has not
 * started.  Therefore record_enter(), in preload/record/record_steps.c, calls
 * attach_thread() and attach_nested().  attach_thread() in turn calls
 * record_event() to record the beginning of the thread.
 */
#ifndef ATTACH_H
#define ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/record/thread.h"

/*
 * Attach the calling thread, which must not be attached yet.  If the process's
 * trace has not started, start it first.  The createThread record gets
 * 'parent', the number of the thread that created the calling thread, and
 * 'start', the address of the thread's start routine (for each of them, 0 means
 * unknown).  Return NULL if events are not recorded now, if there is no memory,
 * or if there are too many threads.  Keeps errno.
 */
struct thread *attach_thread(uint64_t parent, uint64_t start);

/*
 * Return another 'struct thread' of the calling thread, with its own ring, for
 * a signal handler that has interrupted a recording into the ring of 't'.  Make
 * this 'struct thread' at the first such interruption.  Return NULL if the
 * process has no trace, if there is no memory, or if there are too many
 * threads.  Keeps errno.
 */
struct thread *attach_nested(struct thread *t);

/*
 * The process will have a second thread.  Start the trace if it has not
 * started.  If events are recorded, make the writer thread, and from now on
 * order events by stamps and page owners (clock_go_stamped(),
 * record_begin_owners()).  Return whether events are recorded.  Keeps errno.
 */
bool attach_expect_thread(void);

#endif /* ATTACH_H */
