/* SPDX-License-Identifier: MIT */
/*
 * writer_sleep.h - put the writer thread to sleep, and wake it
 *
 * The idle or dormant writer must wake up for a thread of the program and for a
 * client of its socket.  For a client, a descriptor becomes readable.  A thread
 * of the program has no descriptor that it could write to, since the writer has
 * its own descriptor table.  So the thread sends a signal, which the writer
 * blocks and reads from a signalfd.  If there is no socket, or if threads must
 * not send the signal, the writer sleeps on a futex.
 */
#ifndef WRITER_SLEEP_H
#define WRITER_SLEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Maximum number of descriptors that writer_sleep() can watch. */
#define WRITER_SLEEP_FDS 8

/*
 * Drop the state that a fork has copied from the parent process.  Call this
 * before the writer thread begins.
 */
void writer_sleep_init(void);

/*
 * The writer thread calls this when it begins: note its thread id and, if
 * 'takes_orders' is set, open the signalfd.
 */
void writer_sleep_begin(bool takes_orders);

/* The writer: close the signalfd, since no more orders will come. */
void writer_sleep_close(void);

/*
 * The writer: sleep until a thread calls writer_sleep_interrupt() or wakes the
 * futex '*word', until one of the 'count' descriptors 'fds' is readable, or
 * until 'timeout_ns' has passed.  The sleep may end earlier.  Return at once if
 * '*word' is not 'expected', since a thread that wakes the writer changes
 * '*word' first.
 */
void writer_sleep(_Atomic uint32_t *word, uint32_t expected,
		  uint64_t timeout_ns, const int *fds, unsigned count);

/*
 * Any thread: end writer_sleep() by the signal.  Return false if the writer is
 * not in ppoll(2), or after writer_sleep_end_signals().  In these cases the
 * caller must wake the futex.
 */
bool writer_sleep_interrupt(void);

/*
 * Any thread: if the writer is in ppoll(2), wake it by a last signal.  From
 * then on, no thread of this process and its children sends the signal.  The
 * writer then sleeps on the futex, and checks for clients from time to time.
 */
void writer_sleep_end_signals(void);

#endif /* WRITER_SLEEP_H */
