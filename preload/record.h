/* SPDX-License-Identifier: MIT */
/*
 * record.h - put an event into the calling thread's ring
 *
 * The hot path of the whole project.  On paper: one thread-local load, the
 * thread's first cache line (limit, head, ring, tick), the shared tick (a line
 * that is written once a millisecond), one or two stores into the ring's next
 * line and one of its head.  No locked instruction, no system call, two branches
 * that are almost always taken the same way.
 *
 * Against signals: 'limit' is 0 from before 'head' is read until after it is
 * published.  A handler that allocates in between finds 0, goes the slow way and
 * gets a ring of its own; one that comes before or after is complete by itself.
 * All of it is ordered by the compiler barriers alone, since a handler runs on
 * the same processor.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "event.h"
#include "thread.h"

/*
 * The general way, for every event and every circumstance: attaches the thread,
 * wakes the writer, announces a new tick, waits for room.  Returns false if the
 * event is not in the ring: nothing is traced, or it was dropped and counted.
 * Keeps errno.
 */
bool record_event(enum event_type type, unsigned flags, uint64_t op0,
		  uint64_t op1, uint64_t op2);

static inline __attribute__((always_inline)) void
record_word(uint64_t word, unsigned stamped_kind, bool fits,
	    enum event_type type, unsigned flags, uint64_t op0, uint64_t op1)
{
	struct thread *const t = thread_self;
	const uint64_t limit = t->limit;

	t->limit = 0;
	atomic_signal_fence(memory_order_seq_cst);

	const uint64_t head = t->head;
	/*
	 * relaxed: an old tick is at most a tick too early; an old tick instead
	 * of CLOCK_STAMPED cannot be read once the other thread's existence
	 * can be noticed, see clock_go_stamped().
	 */
	const uint64_t tick =
		atomic_load_explicit(&clock_tick, memory_order_relaxed);
	uint64_t words = 0;

	if (__builtin_expect(fits, 1)) {
		if (tick == t->tick && head < limit) {
			ring_put(t->ring, head, word);
			words = 1;
		} else if (tick == CLOCK_STAMPED && head + 2 <= limit) {
			ring_put(t->ring, head, word + stamped_kind);
			ring_put(t->ring, head + 1, clock_stamp());
			words = 2;
		}
	}
	if (__builtin_expect(words != 0, 1)) {
		t->head = head + words;
		ring_publish(t->ring, head + words);
	}
	atomic_signal_fence(memory_order_seq_cst);
	t->limit = limit;
	if (__builtin_expect(words == 0, 0))
		record_event(type, flags, op0, op1, 0);
}

/* malloc() has returned 'p'; NULL is an allocation that failed. */
static inline __attribute__((always_inline)) void
record_alloc(const void *p, size_t size)
{
	const uint64_t address = (uintptr_t)p;

	record_word((uint64_t)size << EVENT_SIZE_SHIFT | address |
			    EVENT_KIND_ALLOC,
		    EVENT_KIND_ALLOC_STAMPED - EVENT_KIND_ALLOC,
		    (address & EVENT_ADDRESS_REST) == 0 &&
			    size < EVENT_SIZE_LIMIT,
		    EVENT_ALLOC, 0, address, size);
}

/* calloc() has returned 'p', of 'size' bytes in all. */
static inline __attribute__((always_inline)) void
record_calloc(const void *p, size_t size)
{
	const uint64_t address = (uintptr_t)p;

	record_word((uint64_t)size << EVENT_SIZE_SHIFT | address |
			    EVENT_KIND_CALLOC,
		    EVENT_KIND_CALLOC_STAMPED - EVENT_KIND_CALLOC,
		    (address & EVENT_ADDRESS_REST) == 0 &&
			    size < EVENT_SIZE_LIMIT,
		    EVENT_ALLOC, EVENT_FLAG_ZEROED, address, size);
}

/* free(p) will be called; 'p' is not NULL. */
static inline __attribute__((always_inline)) void
record_free(const void *p)
{
	const uint64_t address = (uintptr_t)p;

	record_word(address | EVENT_KIND_FREE,
		    EVENT_KIND_FREE_STAMPED - EVENT_KIND_FREE,
		    (address & EVENT_ADDRESS_REST) == 0, EVENT_FREE, 0,
		    address, 0);
}

#endif /* RECORD_H */
