/* SPDX-License-Identifier: MIT */
/*
 * ring_wait.h - waiting for room in a ring, and giving room back
 *
 * The part of ring.h that needs system calls: a producer whose ring is full
 * sleeps on a futex, and the consumer wakes it once the events are in the file.
 */
#ifndef RING_WAIT_H
#define RING_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/rings/ring.h"

/*
 * Producer: announce that it will wait for room.  After that it may wake the
 * consumer.
 */
void ring_wait_announce(struct ring *r);

/*
 * Producer: after ring_wait_announce(), sleep until the consumer has made room,
 * or 'timeout_ns' has passed.  Ask and call again until ring_limit() shows the
 * room.
 */
void ring_wait_sleep(struct ring *r, uint64_t need_limit, uint64_t timeout_ns);

/* Consumer: free the words before 'tail', and wake the producer. */
void ring_wait_release(struct ring *r, uint64_t tail);

/*
 * Consumer: if the producer waits, give it a ring of 'capacity' words, a power
 * of two above what it has, which have memory; and wake it.  False if it does
 * not wait.
 */
bool ring_wait_grow(struct ring *r, uint64_t capacity);

/* Consumer: does the producer wait for room? */
bool ring_wait_is_pending(const struct ring *r);

#endif /* RING_WAIT_H */
