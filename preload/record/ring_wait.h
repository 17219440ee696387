/* SPDX-License-Identifier: MIT */
/*
 * ring_wait.h - wait for room in a ring, release room, or add room
 *
 * These are the operations on a ring (ring.h) that need system calls.  A
 * producer whose ring is full sleeps on a futex.  The consumer wakes the
 * producer once the events are in the file.
 *
 * record_make_room() in record_steps.c decides what happens when a ring is
 * full.
 */
#ifndef RING_WAIT_H
#define RING_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/rings/ring.h"

/*
 * Producer: announce that this thread will wait for room.  Call this before
 * waking the consumer.
 */
void ring_wait_announce(struct ring *r);

/*
 * Producer: call this after ring_wait_announce().  Sleep until the consumer may
 * have raised ring_limit() to 'need_limit', or until 'timeout_ns' has passed.
 * Call both functions again until ring_limit() is at least 'need_limit'.
 */
void ring_wait_sleep(struct ring *r, uint64_t need_limit, uint64_t timeout_ns);

/*
 * Consumer: free the words before 'tail'.  If the producer waits and the ring
 * now has room for at least one word, wake the producer.
 */
void ring_wait_release(struct ring *r, uint64_t tail);

/*
 * Consumer: like ring_wait_release(), but let the producer sleep on if less
 * than half of the ring is free.  The consumer must call
 * ring_wait_release() later.
 */
void ring_wait_release_part(struct ring *r, uint64_t tail);

/*
 * Consumer, or the waiting producer itself while there is no consumer: if the
 * producer waits, extend its ring to 'capacity' words and wake the producer.
 * 'capacity' is a power of two above the ring's present capacity, and the
 * memory for it is reserved.  Return false if the producer does not wait.
 */
bool ring_wait_grow(struct ring *r, uint64_t capacity);

/* Does the producer wait for room? */
bool ring_wait_is_pending(const struct ring *r);

#endif /* RING_WAIT_H */
