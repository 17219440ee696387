/* SPDX-License-Identifier: MIT */
/* record.c - the slow path into the ring; see record.h */

#include "preload/record/record.h"

#include <errno.h>

#include "preload/record/record_steps.h"

bool
record_operands(enum event_type type, unsigned flags, const uint64_t *operand)
{
	const int saved_errno = errno;
	struct thread *t;
	bool recorded = false;

	/* A later trace needs the threads that are attached while dormant. */
	if (record_is_dormant() && type != EVENT_THREAD &&
	    type != EVENT_HANDOVER)
		return false;
	t = record_enter();
	if (t != NULL) {
		uint64_t head;

		record_note_stack(t, type);
		head = record_put_event(t, type, flags, operand);
		recorded = head != t->head;
		record_leave(t, head);
	}
	errno = saved_errno;
	return recorded;
}

bool
record_event(enum event_type type, unsigned flags, uint64_t op0, uint64_t op1,
	     uint64_t op2)
{
	const uint64_t operand[3] = { op0, op1, op2 };

	return record_operands(type, flags, operand);
}

static struct thread *
begin_realloc(enum event_type type, const uint64_t *operand)
{
	const int saved_errno = errno;
	struct thread *t = record_enter();

	if (t != NULL) {
		uint64_t head;

		record_note_stack(t, type);
		head = record_put_event(t, type, 0, operand);

		if (head != t->head) {
			t->head = head;
			ring_publish(t->ring, head);
		} else {
			record_leave(t, head);
			t = NULL;
		}
	}
	errno = saved_errno;
	return t;
}

struct thread *
record_realloc_begin(const void *old)
{
	const uint64_t operand[1] = { (uintptr_t)old };

	return begin_realloc(EVENT_REALLOC_BEGIN, operand);
}

struct thread *
record_heap_realloc_begin(const void *old, uint64_t heap)
{
	const uint64_t operand[2] = { (uintptr_t)old, heap };

	return begin_realloc(EVENT_HEAP_REALLOC_BEGIN, operand);
}

void
record_heap_realloc_end(struct thread *t, unsigned flags, const void *old,
			const void *p, size_t size, uint64_t heap)
{
	const int saved_errno = errno;
	const uint64_t operand[4] = { (uintptr_t)old, (uintptr_t)p, size,
				      heap };

	record_leave(
		t, record_put_event(t, EVENT_HEAP_REALLOC_END, flags, operand));
	errno = saved_errno;
}

void
record_realloc_end(struct thread *t, unsigned flags, const void *old,
		   const void *p, size_t size)
{
	const int saved_errno = errno;
	const uint64_t operand[3] = { (uintptr_t)old, (uintptr_t)p, size };

	record_leave(t, record_put_event(t, EVENT_REALLOC_END, flags, operand));
	errno = saved_errno;
}

bool
record_is_last_alloc(const void *p, size_t size)
{
	const struct thread *const t = thread_self;
	const uint64_t address = (uintptr_t)p;
	const uint64_t word = (uint64_t)size << EVENT_SIZE_SHIFT | address;

	if (!thread_is_attached(t) || t->head < EVENT_ALLOC_WORDS)
		return false;
	if ((address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
	    size < EVENT_SIZE_LIMIT &&
	    (ring_get(t->ring, t->head - 1) == (word | EVENT_KIND_ALLOC) ||
	     ring_get(t->ring, t->head - 2) ==
		     (word | EVENT_KIND_ALLOC_STAMPED)))
		return true;
	return ring_get(t->ring, t->head - EVENT_ALLOC_WORDS) ==
		       event_wide(EVENT_ALLOC, EVENT_ALLOC_WORDS, 0) &&
	       ring_get(t->ring, t->head - EVENT_ALLOC_WORDS + 2) == address &&
	       ring_get(t->ring, t->head - EVENT_ALLOC_WORDS + 3) == size;
}

/*
 * Put an event of one word and a stamp; 'stamped_kind' is the word's kind.
 * False if events are not stamped at present, or if there is no room.
 */
static inline bool
put_stamped(uint64_t word, unsigned stamped_kind)
{
	struct thread *const t = thread_self;
	const uint64_t limit = record_close(t);
	const uint64_t head = t->head;
	/* relaxed: as in record_has_tick(). */
	const bool can =
		atomic_load_explicit(&clock_tick, memory_order_relaxed) ==
			CLOCK_STAMPED &&
		head + 2 <= limit;
	uint64_t stamp = 0;

	if (__builtin_expect(can, 1)) {
		stamp = clock_stamp();
		t->ring->words[head & t->mask] = word | stamped_kind;
		t->ring->words[(head + 1) & t->mask] = stamp;
		t->head = head + 2;
		ring_publish(t->ring, head + 2);
	}
	record_open(t, limit);
	if (can &&
	    __builtin_expect(clock_tick_after(stamp) != CLOCK_STAMPED, 0))
		record_confirm_order(t);
	return can;
}

static inline bool
put_alloc_stamped(const void *p, size_t size, enum event_kind kind)
{
	const uint64_t address = (uintptr_t)p;

	return (address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
	       size < EVENT_SIZE_LIMIT &&
	       put_stamped((uint64_t)size << EVENT_SIZE_SHIFT | address, kind);
}

void
record_alloc_wide(const void *p, size_t size, unsigned flags)
{
	record_event(EVENT_ALLOC, flags, (uintptr_t)p, size, 0);
}

void *
record_alloc_slow(void *p, size_t size)
{
	if (record_has_stacks)
		record_stacked_alloc(p, size, 0);
	else if (!put_alloc_stamped(p, size, EVENT_KIND_ALLOC_STAMPED))
		record_alloc_wide(p, size, 0);
	return p;
}

void *
record_calloc_slow(void *p, size_t size)
{
	if (record_has_stacks)
		record_stacked_alloc(p, size, EVENT_FLAG_ZEROED);
	else if (!put_alloc_stamped(p, size, EVENT_KIND_CALLOC_STAMPED))
		record_alloc_wide(p, size, EVENT_FLAG_ZEROED);
	return p;
}

void
record_free_slow(const void *p)
{
	const uint64_t address = (uintptr_t)p;

	/* Part of an operator delete that has been recorded. */
	if (record_has_stacks && thread_self->deleting == p)
		return;
	if (record_has_stacks) {
		record_stacked_free(p);
		return;
	}
	if ((address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
	    put_stamped(address, EVENT_KIND_FREE_STAMPED))
		return;
	if (thread_self->deleting != p)
		record_event(EVENT_FREE, 0, address, 0, 0);
}
