/* SPDX-License-Identifier: MIT */
/*
 * record.h - put an event into the calling thread's ring
 *
 * The hot path of the whole project.  On paper: one thread-local load, the
 * thread's first cache line (limit, head, ring, tick), the shared tick (a line
 * that is written once a millisecond), one or two stores into the ring's next
 * line and one of its head.  No locked instruction, no system call, two branches
 * that are almost always taken the same way.  Only who owns the tick finds it
 * equal to the last one that he announced; see clock.h.
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
 * Loaded, but not recording (HATFTRACE_START=off, or 'hatf ctl stop').  Written by
 * the writer thread; in a line of its own that all threads only read.
 */
extern _Atomic bool record_dormant __attribute__((visibility("hidden")));

/*
 * All that a dormant tracer costs.  A dormant malloc() asks after the real call, and
 * records if it is recorded by now; a free() asks before it.  relaxed suffices:
 * whoever gets a block from another thread, from the program or through the
 * allocator, has synchronised with it and can read no older value than that thread
 * did.  So if a block is in the trace its free is too, and if a free is, so is the
 * next allocation there.  When it is turned off, events that are published late
 * are told by their stamp; see writer_stop().
 */
static inline __attribute__((always_inline)) bool
record_is_dormant(void)
{
#if defined(__x86_64__)
	/* An atomic load of a compiler's takes a register and two more steps. */
	__asm__ goto("cmpb $0, %0\n\tjne %l1"
		     :
		     : "m"(record_dormant)
		     : "cc", "memory"
		     : dormant);
	return false;
dormant:
	return true;
#else
	return __builtin_expect(
		atomic_load_explicit(&record_dormant, memory_order_relaxed), 0);
#endif
}

/*
 * The general way, for every event and every circumstance: attaches the thread,
 * wakes the writer, announces a new tick, waits for room.  Returns false if the
 * event is not in the ring: nothing is traced, or it was dropped and counted.
 * Keeps errno.
 */
bool record_event(enum event_type type, unsigned flags, uint64_t op0,
		  uint64_t op1, uint64_t op2);

/* The same for up to four operands, as many as the type has. */
bool record_operands(enum event_type type, unsigned flags,
		     const uint64_t *operand);

/*
 * A realloc of 'old', which is not NULL, will be called.  Between begin and end
 * the ring stays closed, so that the end follows the begin in it whatever a signal
 * handler does meanwhile.  Returns what the end wants, or NULL if there is to be
 * none: nothing is traced, or it was dropped and counted.
 */
struct thread *record_realloc_begin(const void *old);

/* It has returned 'p'. */
void record_realloc_end(struct thread *t, unsigned flags, const void *old,
			const void *p, size_t size);

/*
 * An event of 't' has a stamp, and after that the clock did not want stamps any
 * more: see that it does, or that the tick is this thread's.  To be called before
 * the event can have consequences.  Keeps errno.
 */
void record_settle(const struct thread *t);

/*
 * Returns false if nothing has been recorded and it takes record_event().  'word'
 * is the event as one word, 'fits' that it can be one.
 */
static inline __attribute__((always_inline)) bool
record_word(uint64_t word, unsigned stamped_kind, bool fits)
{
	struct thread *const t = thread_self;
	const uint64_t limit = t->limit;

	t->limit = 0;
	atomic_signal_fence(memory_order_seq_cst);

	const uint64_t head = t->head;
	/*
	 * relaxed: an old tick is at most a tick too early; an old tick instead
	 * of CLOCK_STAMPED cannot be read once another thread's event can be
	 * noticed, see clock.h.
	 */
	const uint64_t tick =
		atomic_load_explicit(&clock_tick, memory_order_relaxed);
	uint64_t next = head, after = CLOCK_STAMPED;

	if (__builtin_expect(fits && tick == t->tick && head < limit, 1)) {
		t->ring->words[head & t->mask] = word;
		next = head + 1;
	} else if (fits && tick == CLOCK_STAMPED && head + 2 <= limit) {
		const uint64_t stamp = clock_stamp();

		t->ring->words[head & t->mask] = word + stamped_kind;
		t->ring->words[(head + 1) & t->mask] = stamp;
		after = clock_tick_after(stamp);
		next = head + 2;
	}
	if (__builtin_expect(next != head, 1)) {
		t->head = next;
		ring_publish(t->ring, next);
	}
	atomic_signal_fence(memory_order_seq_cst);
	t->limit = limit;
	if (__builtin_expect(after != CLOCK_STAMPED, 0))
		record_settle(t);
	return __builtin_expect(next != head, 1);
}

/*
 * Is the calling thread's last event the allocation of 'p' with this size?  That
 * is how an operator new of an allocator sees that the function which it called
 * has been recorded already.
 */
bool record_is_last_alloc(const void *p, size_t size);

/* The slow ways, out of line; each does what its namesake below does. */
void record_alloc_slow(const void *p, size_t size, unsigned flags);
void record_free_slow(const void *p);

/* malloc() has returned 'p'; NULL is an allocation that failed. */
static inline __attribute__((always_inline)) void
record_alloc(const void *p, size_t size)
{
	const uint64_t address = (uintptr_t)p;

	if (!record_word((uint64_t)size << EVENT_SIZE_SHIFT | address |
				 EVENT_KIND_ALLOC,
			 EVENT_KIND_ALLOC_STAMPED - EVENT_KIND_ALLOC,
			 (address & EVENT_ADDRESS_REST) == 0 &&
				 size < EVENT_SIZE_LIMIT))
		record_alloc_slow(p, size, 0);
}

/* calloc() has returned 'p', of 'size' bytes in all. */
static inline __attribute__((always_inline)) void
record_calloc(const void *p, size_t size)
{
	const uint64_t address = (uintptr_t)p;

	if (!record_word((uint64_t)size << EVENT_SIZE_SHIFT | address |
				 EVENT_KIND_CALLOC,
			 EVENT_KIND_CALLOC_STAMPED - EVENT_KIND_CALLOC,
			 (address & EVENT_ADDRESS_REST) == 0 &&
				 size < EVENT_SIZE_LIMIT))
		record_alloc_slow(p, size, EVENT_FLAG_ZEROED);
}

/* free(p) will be called; 'p' is not NULL. */
static inline __attribute__((always_inline)) void
record_free(const void *p)
{
	const uint64_t address = (uintptr_t)p;

	if (!record_word(address | EVENT_KIND_FREE,
			 EVENT_KIND_FREE_STAMPED - EVENT_KIND_FREE,
			 (address & EVENT_ADDRESS_REST) == 0))
		record_free_slow(p);
}

#endif /* RECORD_H */
