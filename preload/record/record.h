/* SPDX-License-Identifier: MIT */
/*
 * record.h - put an event into the calling thread's ring
 *
 * The fast path of the recorder.  It costs one thread-local load, the thread's
 * first cache line (limit, head, ring, tick), the shared tick (in a line that
 * is written about once a millisecond), one store into the ring, and one store
 * of the ring's head; a realloc makes each of these two stores twice.  The fast
 * path has no locked instruction and no system call.  Its few branches (does
 * the event fit a word, is the tick current, is there room) almost always go
 * the same way.  An event takes the fast path only if the shared tick is equal
 * to the last tick that the thread put into its ring.  Only the owner of the
 * tick has such events; see clock.h.
 *
 * With HATFTRACE_CLOCK=us or ns, the events of the only thread of a process
 * take a second fast path (record_unfenced_word()), which also reads the
 * counter and stores a second word.
 *
 * Signal handlers: a recording sets 'limit' to 0 before it reads 'head', and
 * restores 'limit' after it has published the new head.  A handler that
 * allocates between these two moments finds 0, takes the slow path, and gets a
 * ring of its own.  A handler that runs earlier or later uses the same ring,
 * and completes its own recordings.  Compiler barriers suffice for this order,
 * since a handler runs on the same processor.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/event.h"
#include "preload/clock/clock.h"
#include "preload/record/thread.h"
#include "preload/state/process_state.h"

/*
 * Is the recorder dormant?  If it is, the recorder adds only this check to
 * free(), and this check and own_slot_is_called() to malloc() and calloc(); to
 * other functions it adds a little more.
 *
 * malloc() checks the flag after the real call.  If recording begins during
 * that call, malloc() therefore records the allocation.  free() checks the flag
 * before the real call.  So a trace that has the allocation of a block also has
 * its free, and a trace that has a free also has the next allocation at the
 * same address.  This holds even if another thread frees the block, or gets the
 * address: the two threads have synchronized, directly or through the
 * allocator, so the other thread cannot read an older value of the flag.
 *
 * When recording stops, some events may still be published.  The writer
 * recognizes these events by their stamps; see halt() in writer_orders.c.
 */
static inline __attribute__((always_inline)) bool
record_is_dormant(void)
{
#if defined(__x86_64__)
	/*
	 * This is assembly, because compilers use a register and two more
	 * instructions for this comparison.
	 */
	__asm__ goto("cmpb $0, %0\n\tjne %l1"
		     :
		     : "m"(process_dormant)
		     : "cc", "memory"
		     : dormant);
	return false;
dormant:
	return true;
#else
	/*
	 * acquire: a thread that reads false also sees everything that
	 * start_recording() has stored before.
	 */
	return __builtin_expect(
		atomic_load_explicit(&process_dormant, memory_order_acquire),
		0);
#endif
}

/*
 * Do allocations have call stacks, and do frees have them?  Both flags are
 * constant from the first event of the process on.  Events with call stacks do
 * not take the fast path ('alloc_tick' and 'free_tick' in thread.h).
 */
extern bool record_has_stacks __attribute__((visibility("hidden")));
extern bool record_frees_have_stacks __attribute__((visibility("hidden")));

/*
 * Call this before the first event of a process.  Later events have stacks of
 * at most 'depth' frames; 0 means no stacks.  Frees have stacks only if
 * 'with_frees' is set.  Return false if call stacks are impossible.
 */
bool record_init_stacks(uint32_t depth, bool with_frees);

/*
 * Return the size in bytes of the address space that call stacks take.  Nearly
 * all of it stays unused.
 */
size_t record_stacks_nbytes(void);

/*
 * The slow path.  It records an event of any type, whatever the state of the
 * thread, the clock and the ring.  If needed, attach the thread, wake the
 * writer, put a new tick into the ring, or wait for room.  Return false if the
 * event is not in the ring: events of this thread are not recorded now, or the
 * event was dropped and counted.  Keeps errno.
 */
bool record_event(enum event_type type, unsigned flags, uint64_t op0,
		  uint64_t op1, uint64_t op2);

/* Like record_event(), with as many operands as the type has, at most four. */
bool record_operands(enum event_type type, unsigned flags,
		     const uint64_t *operand);

/*
 * Record a text, truncated to EVENT_TEXT_NBYTES: a mark (EVENT_MARK), or an
 * event of the program's own (EVENT_CLIENT).  The text goes into the ring in
 * pieces, which together are one event.  Return the same as record_event().
 * Keeps errno.
 */
bool record_text(enum event_type type, unsigned flags, const char *text,
		 size_t nbytes);

/* A DTD, by which the program describes records of its own. */
struct record_dtd {
	const char *name; /* at most RECORD_DTD_NAME_NBYTES bytes long */
	const char *text;
	size_t nbytes;
	/*
	 * '*sent' is the id of the process whose trace has the DTD; 0: none.
	 * Any thread may write the id.
	 */
	uint64_t *sent;
};
#define RECORD_DTD_NAME_NBYTES 64

/*
 * Record an EVENT_CLIENT that has fields.  If this process has not recorded the
 * DTD yet, record the DTD first.  In all other respects, this is like
 * record_text().
 */
bool record_fields(const struct record_dtd *dtd, const char *text,
		   size_t nbytes);

/*
 * Record the begin event of a realloc of 'old', which is not NULL, before the
 * real call.  The ring stays closed until record_realloc_end().  A signal
 * handler that runs meanwhile uses another ring, so the end event directly
 * follows the begin event in the ring.  Return the argument 't' for
 * record_realloc_end().  Return NULL if nothing is traced, or if the begin
 * event was dropped and counted.  After NULL, the caller must not call
 * record_realloc_end().
 */
struct thread *record_realloc_begin(const void *old);

/*
 * Record the end event of a realloc that returned 'p'.  't' is the result of
 * record_realloc_begin(), and not NULL.
 */
void record_realloc_end(struct thread *t, unsigned flags, const void *old,
			const void *p, size_t size);

/* Like the two functions above, for a block of a heap other than malloc's. */
struct thread *record_heap_realloc_begin(const void *old, uint64_t heap);
void record_heap_realloc_end(struct thread *t, unsigned flags, const void *old,
			     const void *p, size_t size, uint64_t heap);

/*
 * If the clock left stamped mode while an event of 't' was being stamped,
 * change the clock back to stamped mode, or confirm that 't' owns the tick.
 * Call this before the event can affect another thread.  Keeps errno.
 */
void record_confirm_order(const struct thread *t);

/*
 * Can the calling thread put 'words' more words into its ring without the
 * writer's help?  The ring may be extended to its largest capacity for this.
 * The answer is always no for a ring in the ring file, because only the writer
 * can extend such a ring.
 */
bool record_has_room(uint64_t words);

/*
 * Close the ring of 't': set 'limit' to 0, so that signal handlers use another
 * ring, and return the old 'limit' for record_open().
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

/*
 * Is 'tick' the current tick?  If it is, the calling thread owns the current
 * tick.  'tick' is the field 'tick', 'alloc_tick' or 'free_tick' of the calling
 * thread's struct.
 */
static inline __attribute__((always_inline)) bool
record_is_current(uint64_t tick)
{
	/*
	 * relaxed: reading an old tick makes the event at most one tick too
	 * early.  Once an event of another thread can affect this thread, this
	 * thread reads CLOCK_STAMPED and no older tick, see clock.h.
	 */
	return atomic_load_explicit(&clock_tick, memory_order_relaxed) == tick;
}

static inline __attribute__((always_inline)) void
record_put(struct thread *t, uint64_t head, uint64_t word)
{
	t->ring->words[head & t->mask] = word;
	t->head = head + 1;
	ring_publish(t->ring, head + 1);
}

/*
 * May the calling thread read the clock for its next event without a fence?
 * 'tick' is a field of the thread's struct, as for record_is_current().
 */
static inline __attribute__((always_inline)) bool
record_omits_fence(uint64_t tick)
{
	/*
	 * Compare 'tick' first, because this comparison is the cheaper one,
	 * and is nearly always false with HATFTRACE_CLOCK=auto.
	 *
	 * relaxed: once an event of another thread can affect this thread, this
	 * thread reads CLOCK_STAMPED, as in record_is_current().
	 */
	return tick == CLOCK_UNFENCED_OWN &&
	       atomic_load_explicit(&clock_tick, memory_order_relaxed) ==
		       CLOCK_UNFENCED;
}

/*
 * Put a word and its stamp into the ring.  Call this only if
 * record_omits_fence() returns true.
 */
static inline __attribute__((always_inline)) void
record_put_unfenced(struct thread *t, uint64_t word)
{
	const uint64_t stamp = clock_read_unfenced();
	struct ring *const r = t->ring;
	const uint64_t mask = t->mask, head = t->head;

	r->words[head & mask] = word;
	r->words[(head + 1) & mask] = stamp;
	t->head = head + 2;
	ring_publish(r, head + 2);
}

/*
 * Put an event of one word into the ring of the calling thread 't'.  '*tick' is
 * t->alloc_tick or t->free_tick.  'fits' says whether one word can hold the
 * event.  Return false and record nothing if the event does not fit, if it
 * needs a stamp or a new tick, if there is no room, or if the ring is closed.
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_word(struct thread *t, const uint64_t *tick, uint64_t word, bool fits)
{
	const uint64_t limit = record_close(t);
	const uint64_t head = t->head;
	const bool can = __builtin_expect(fits, 1) &&
			 __builtin_expect(record_is_current(*tick), 1) &&
			 __builtin_expect(head < limit, 1);

	if (__builtin_expect(can, 1))
		record_put(t, head, word);
	record_open(t, limit);
	return can;
}

/*
 * Call this if record_word() has recorded nothing.  '*tick' and 'fits' are the
 * same as for record_word().  Put the event into the ring as a word and a stamp
 * if the stamp needs no fence.  The kind in 'word' says that a stamp follows.
 * Return false and record nothing if one word cannot hold the event, if the
 * stamp needs a fence, if there is no room, or if the ring is closed.
 *
 * This is not a part of record_word(), so that record_word() takes fewer
 * instructions.
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_unfenced_word(struct thread *t, const uint64_t *tick, uint64_t word,
		     bool fits)
{
	uint64_t limit;
	bool has_room;

	if (__builtin_expect(!fits || !record_omits_fence(*tick), 1))
		return false;
	limit = record_close(t);
	has_room = t->head + 2 <= limit;
	if (__builtin_expect(has_room, 1))
		record_put_unfenced(t, word);
	record_open(t, limit);
	return has_room;
}

/*
 * Like record_word(), for the begin event of a realloc of 'old', which is not
 * NULL.  If this event is recorded, the ring stays closed and has room for the
 * end event.  '*limit_ret' is then the old 'limit'; pass it to
 * record_realloc_word().
 *
 * This begin event has no size code.  In a process of several threads, the
 * writer needs the size code, to notice that another thread gets a part of the
 * old block before the end event (ORDER.md, "Reallocs").  So record nothing in
 * such a process.
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_realloc_old(struct thread *t, const void *old, uint64_t *limit_ret)
{
	const uint64_t address = (uintptr_t)old;
	const uint64_t limit = record_close(t);
	const uint64_t head = t->head;

	if (__builtin_expect((address & EVENT_REALLOC_EXTRA_BITS) == 0 &&
				     record_is_current(t->alloc_tick) &&
				     head + 2 <= limit &&
				     !clock_expects_threads(),
			     1)) {
		record_put(t, head, address | EVENT_KIND_REALLOC);
		*limit_ret = limit;
		return true;
	}
	record_open(t, limit);
	return false;
}

/*
 * Record the end event of the realloc that record_realloc_old() has begun, and
 * open the ring.  The block is now at 'p' and has 'size' bytes.  Return false
 * if the realloc has failed, if one word cannot hold the event, or if the tick
 * has changed.  In these cases the ring is still closed, and the caller must
 * call record_realloc_end().
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_realloc_word(struct thread *t, const void *p, size_t size,
		    uint64_t limit)
{
	const uint64_t address = (uintptr_t)p;

	if (__builtin_expect(p == NULL || size >= EVENT_SIZE_LIMIT ||
				     (address & EVENT_REALLOC_EXTRA_BITS) !=
					     0 ||
				     !record_is_current(t->alloc_tick),
			     0))
		return false;
	record_put(t, t->head,
		   (uint64_t)size << EVENT_SIZE_SHIFT | EVENT_REALLOC_IS_END |
			   address | EVENT_KIND_REALLOC);
	record_open(t, limit);
	return true;
}

/*
 * A position in the ring of the calling thread: where the next event will be.
 */
struct record_mark {
	const struct thread *thread;
	uint64_t head;
};

static inline struct record_mark
record_mark(void)
{
	return (struct record_mark){ thread_self, thread_self->head };
}

/*
 * Has the calling thread recorded an event since 'mark', and is its last event
 * the allocation of 'p' with this size?  If so, an operator new must not record
 * the allocation again, because the allocator's own operator new has called
 * another function of the recorder, such as malloc(), which has recorded it.
 */
bool record_has_alloc_since(struct record_mark mark, const void *p,
			    size_t size);

/*
 * The slow path: record an event that the fast path did not take.  The first
 * two functions return 'p', so that a caller can make a tail call.
 */
void *record_alloc_slow(void *p, size_t size);
void *record_calloc_slow(void *p, size_t size);
void record_free_slow(const void *p);

/*
 * Like record_free_slow() and record_realloc_begin(), for a block of an
 * allocator with several heaps (heap_calls.h).  The event has no heap, so the
 * block counts as malloc's.  But malloc_usable_size() may not know such a
 * block, so do not call it.
 */
void record_free_of_pool(const void *p);
struct thread *record_pool_realloc_begin(const void *old);

/* Record an allocation as an event of several words (a wide event). */
void record_alloc_wide(const void *p, size_t size, unsigned flags);

/*
 * Record that malloc() has returned 'p', which is NULL if it failed.  Return
 * 'p'.
 */
static inline __attribute__((always_inline)) void *
record_alloc(void *p, size_t size)
{
	struct thread *const t = thread_self;
	const uint64_t address = (uintptr_t)p;
	const uint64_t word =
		(uint64_t)size << EVENT_SIZE_SHIFT | address | EVENT_KIND_ALLOC;
	/*
	 * If malloc(0) has returned NULL, the word is 0.  No event may begin
	 * with such a word (RINGS.md, "Events"), so the slow path records this
	 * call.
	 */
	const bool fits =
		__builtin_expect((address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
					 size < EVENT_SIZE_LIMIT && word != 0,
				 1);

	if (__builtin_expect(record_word(t, &t->alloc_tick, word, fits), 1) ||
	    record_unfenced_word(t, &t->alloc_tick,
				 word | EVENT_KIND_ALLOC_STAMPED, fits))
		return p;
	return record_alloc_slow(p, size);
}

/* Record that calloc() has returned 'p', 'size' bytes in all.  Return 'p'. */
static inline __attribute__((always_inline)) void *
record_calloc(void *p, size_t size)
{
	struct thread *const t = thread_self;
	const uint64_t address = (uintptr_t)p;
	const uint64_t word = (uint64_t)size << EVENT_SIZE_SHIFT | address;
	const bool fits =
		__builtin_expect((address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
					 size < EVENT_SIZE_LIMIT,
				 1);

	if (__builtin_expect(record_word(t, &t->alloc_tick,
					 word | EVENT_KIND_CALLOC, fits),
			     1) ||
	    record_unfenced_word(t, &t->alloc_tick,
				 word | EVENT_KIND_CALLOC_STAMPED, fits))
		return p;
	return record_calloc_slow(p, size);
}

/*
 * Record free(p), before the real call; 'p' is not NULL.  Return false if
 * nothing was recorded.  In this case the caller must call record_free_slow().
 */
static inline __attribute__((always_inline, warn_unused_result)) bool
record_free(const void *p)
{
	struct thread *const t = thread_self;
	const uint64_t address = (uintptr_t)p;
	const bool fits =
		__builtin_expect((address & EVENT_ADDRESS_EXTRA_BITS) == 0, 1);

	return __builtin_expect(record_word(t, &t->free_tick,
					    address | EVENT_KIND_FREE, fits),
				1) ||
	       record_unfenced_word(t, &t->free_tick,
				    address | EVENT_KIND_FREE_STAMPED, fits);
}

#endif /* RECORD_H */
