/* SPDX-License-Identifier: MIT */
/*
 * room.h - waiting for room in a ring, and giving room back
 *
 * What of ring.h needs the system: a producer that finds its ring full sleeps on
 * a futex, and the consumer, when the events are in the file, wakes it.
 */
#ifndef ROOM_H
#define ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

/*
 * Producer: sleep until the consumer has made room, or 'timeout_ns' has passed.
 * Call again until ring_limit() shows the room.
 */
void room_wait(struct ring *r, uint64_t need_limit, uint64_t timeout_ns);

/*
 * Consumer: the words before 'reserved', at most the capacity, have memory; wakes
 * the producer.
 */
void room_extend(struct ring *r, uint64_t reserved);

/* Consumer: there will be no more than there is; the ring is to be that small. */
void room_settle(struct ring *r);

/* Consumer: the words before 'tail' are free again; wakes the producer. */
void room_release(struct ring *r, uint64_t tail);

/* Consumer: is the producer asleep for want of room? */
bool room_is_waited_for(const struct ring *r);

#endif /* ROOM_H */
