/* SPDX-License-Identifier: MIT */
/*
 * record.h - put an event into the calling thread's ring
 *
 * The fast path of the whole project.  By count: one thread-local load, the
 * thread's first cache line (limit, head, ring, tick), the shared tick (a line
 * that is written once a millisecond), one or two stores into the ring's next
 * line and one of its head.  No locked instruction, no system call, two
 * branches that are almost always taken the same way.  Only the owner of the
 * tick finds it equal to the last tick that it announced; see clock.h.
 *
 * Against signals: 'limit' is 0 from before 'head' is read until after it is
 * published.  A handler that allocates in between finds 0, takes the slow path,
 * and gets a ring of its own; one that comes before or after is complete by
 * itself.  Compiler barriers alone order all of it, since a handler runs on the
 * same processor.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/event.h"
#include "preload/record/clock.h"
#include "preload/record/thread.h"

/*
 * Loaded, but not recording (HATFTRACE_START=off, or 'hatf ctl stop').  Written
 * by the writer thread and process_state.c; in a line of its own that all
 * threads only read.
 */
extern _Atomic bool record_dormant __attribute__((visibility("hidden")));

/*
 * The whole cost of a dormant recorder.  malloc() asks after the real call, so
 * it records if recording has begun meanwhile; free() asks before it.  relaxed
 * suffices: whoever gets a block from another thread, from the program or
 * through the allocator, has synchronised with it and can read no older value
 * than that thread did.  So if a block is in the trace its free is too, and if
 * a free is, so is the next allocation there.  When it is turned off, events
 * that are published late are told by their stamp; see writer_stop().
 */
static inline __attribute__((always_inline)) bool
record_is_dormant(void)
{
#if defined(__x86_64__)
	/* Compilers need a register and two more instructions for the load. */
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
 * A process without a writer thread reads one byte, in a file that 'hatf ctl'
 * writes to (bell_file.h): while it is dormant, in functions that allocate,
 * after the flag above; while it records, when an event finds the clock idle.
 */
extern _Atomic uint8_t *record_bell __attribute__((visibility("hidden")));
extern _Atomic uint8_t record_no_bell __attribute__((visibility("hidden")));

static inline __attribute__((always_inline)) bool
record_is_called(void)
{
	/* relaxed: seeing it some time later does no harm. */
	return __builtin_expect(
		atomic_load_explicit(record_bell, memory_order_relaxed) != 0,
		0);
}

/*
 * The slow path, for every event in every state: attach the thread, wake the
 * writer, announce a new tick, wait for room.  Return false if the event is not
 * in the ring: nothing is traced, or the event was dropped and counted.
 * Keeps errno.
 */
bool record_event(enum event_type type, unsigned flags, uint64_t op0,
		  uint64_t op1, uint64_t op2);

/* Like record_event(), with as many operands as the type has, at most four. */
bool record_operands(enum event_type type, unsigned flags,
		     const uint64_t *operand);

/*
 * A realloc of 'old', which is not NULL, will be called.  Between begin and end
 * the ring stays closed, so that the end follows the begin in it whatever a
 * signal handler does meanwhile.  Returns what the end wants, or NULL if there
 * is to be none: nothing is traced, or it was dropped and counted.
 */
struct thread *record_realloc_begin(const void *old);

/* The realloc has returned 'p'; 't' is from record_realloc_begin(). */
void record_realloc_end(struct thread *t, unsigned flags, const void *old,
			const void *p, size_t size);

/* Like these two, for a block of a heap other than malloc's. */
struct thread *record_heap_realloc_begin(const void *old, uint64_t heap);
void record_heap_realloc_end(struct thread *t, unsigned flags, const void *old,
			     const void *p, size_t size, uint64_t heap);

/*
 * If the clock left stamped mode while an event of 't' was being stamped, force
 * it back, or confirm that 't' owns the tick.  Call it before the event can
 * have consequences.  Keeps errno.
 */
void record_confirm_order(const struct thread *t);

/* Can the calling thread record 'words' words without the writer? */
bool record_has_room(uint64_t words);

/*
 * The parts of what follows.  'limit' is 0 from record_close(), which returns
 * what it was, to record_open(): a signal handler then takes another ring.
 */
static inline __attribute__((always_inline)) uint64_t
record_close(struct thread *t)
{
	const uint64_t limit = t->limit;

	t->limit = 0;
	atomic_signal_fence(memory_order_seq_cst);
	return limit;
}

static inline __attribute__((always_inline)) void
record_open(struct thread *t, uint64_t limit)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->limit = limit;
}

/* Is the tick that 't' has announced the current one, and does 't' own it? */
static inline __attribute__((always_inline)) bool
record_has_tick(const struct thread *t)
{
	/*
	 * relaxed: an old tick is at most a tick too early; an old tick instead
	 * of CLOCK_STAMPED cannot be read once another thread's event can be
	 * noticed, see clock.h.
	 */
	return atomic_load_explicit(&clock_tick, memory_order_relaxed) ==
	       t->tick;
}

static inline __attribute__((always_inline)) void
record_put(struct thread *t, uint64_t head, uint64_t word)
{
	t->ring->words[head & t->mask] = word;
	t->head = head + 1;
	ring_publish(t->ring, head + 1);
}

/*
 * Put an event of one word, that goes by the tick, into the ring of 't', which
 * is the calling thread's.  False if it does not fit, or takes a stamp, or
 * there is no room, or anything else is in the way: then nothing has been
 * recorded.
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_word(struct thread *t, uint64_t word, bool fits)
{
	const uint64_t limit = record_close(t);
	const uint64_t head = t->head;
	const bool can = fits && record_has_tick(t) && head < limit;

	if (__builtin_expect(can, 1))
		record_put(t, head, word);
	record_open(t, limit);
	return can;
}

/*
 * The same for a realloc of 'old', which is not NULL: its begin.  If it has
 * been recorded the ring stays closed and '*limit_ret' is what 'limit' was, to
 * be given to record_realloc_word().  The end has room too.
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_realloc_old(struct thread *t, const void *old, uint64_t *limit_ret)
{
	const uint64_t address = (uintptr_t)old;
	const uint64_t limit = record_close(t);
	const uint64_t head = t->head;

	if (__builtin_expect((address & EVENT_REALLOC_EXTRA_BITS) == 0 &&
				     record_has_tick(t) && head + 2 <= limit,
			     1)) {
		record_put(t, head, address | EVENT_KIND_REALLOC);
		*limit_ret = limit;
		return true;
	}
	record_open(t, limit);
	return false;
}

/*
 * Its end: 'p' has 'size' bytes now.  False if that is not recorded, and the
 * ring still closed: it takes record_realloc_end().
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_realloc_word(struct thread *t, const void *p, size_t size,
		    uint64_t limit)
{
	const uint64_t address = (uintptr_t)p;

	if (__builtin_expect(p == NULL || size >= EVENT_SIZE_LIMIT ||
				     (address & EVENT_REALLOC_EXTRA_BITS) !=
					     0 ||
				     !record_has_tick(t),
			     0))
		return false;
	record_put(t, t->head,
		   (uint64_t)size << EVENT_SIZE_SHIFT | EVENT_REALLOC_IS_END |
			   address | EVENT_KIND_REALLOC);
	record_open(t, limit);
	return true;
}

/*
 * Is the calling thread's last event the allocation of 'p' with this size?  If
 * so, an allocator's operator new has called a function that is recorded
 * itself.
 */
bool record_is_last_alloc(const void *p, size_t size);

/*
 * All other ways, out of line: with a stamp, or wide.  record_alloc_slow()
 * returns 'p', so that it can be the last that a caller does.
 */
void *record_alloc_slow(void *p, size_t size);
void *record_calloc_slow(void *p, size_t size);
void record_free_slow(const void *p);

/* An allocation as a wide event. */
void record_alloc_wide(const void *p, size_t size, unsigned flags);

/*
 * malloc() has returned 'p'; NULL is an allocation that failed.  Returns 'p'.
 */
static inline __attribute__((always_inline)) void *
record_alloc(void *p, size_t size)
{
	const uint64_t address = (uintptr_t)p;

	if (!record_word(thread_self,
			 (uint64_t)size << EVENT_SIZE_SHIFT | address |
				 EVENT_KIND_ALLOC,
			 (address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
				 size < EVENT_SIZE_LIMIT))
		return record_alloc_slow(p, size);
	return p;
}

/* calloc() has returned 'p', of 'size' bytes in all.  Returns 'p'. */
static inline __attribute__((always_inline)) void *
record_calloc(void *p, size_t size)
{
	const uint64_t address = (uintptr_t)p;

	if (!record_word(thread_self,
			 (uint64_t)size << EVENT_SIZE_SHIFT | address |
				 EVENT_KIND_CALLOC,
			 (address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
				 size < EVENT_SIZE_LIMIT))
		return record_calloc_slow(p, size);
	return p;
}

/*
 * free(p) will be called; 'p' is not NULL.  False: it takes record_free_slow().
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_free(const void *p)
{
	const uint64_t address = (uintptr_t)p;

	return record_word(thread_self, address | EVENT_KIND_FREE,
			   (address & EVENT_ADDRESS_EXTRA_BITS) == 0);
}

#endif /* RECORD_H */
