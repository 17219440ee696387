/* SPDX-License-Identifier: MIT */
/* room.c - see room.h */

#include "room.h"

#include "sys.h"

/* ring_limit(), ordered as room_wait() wants it. */
static uint64_t
limit_now(const struct ring *r)
{
	const uint64_t reserved =
		atomic_load_explicit(&r->reserved, memory_order_seq_cst);
	const uint64_t capacity =
		atomic_load_explicit(&r->capacity, memory_order_seq_cst);

	if (reserved < capacity)
		return reserved;
	return atomic_load_explicit(&r->tail, memory_order_seq_cst) + capacity;
}

void
room_wait(struct ring *r, uint64_t need_limit, uint64_t timeout_ns)
{
	/*
	 * seq_cst here and in wake(): 'waiting' is stored before the limit is
	 * read, there what makes the limit before 'waiting'; one of the two
	 * sides must see the other.  (The time-out would mend a miss, late.)
	 */
	atomic_store_explicit(&r->waiting, 1, memory_order_seq_cst);
	if (limit_now(r) < need_limit)
		sys_futex_wait(&r->waiting, 1, timeout_ns);
	/* relaxed: the flag orders nothing. */
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
}

/* After a seq_cst store that gives room. */
static void
wake(struct ring *r)
{
	/* seq_cst: see room_wait(). */
	if (atomic_load_explicit(&r->waiting, memory_order_seq_cst) == 0)
		return;
	/* relaxed: the futex call orders it. */
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	sys_futex_wake(&r->waiting);
}

void
room_release(struct ring *r, uint64_t tail)
{
	/* seq_cst: a release for ring_limit(), and before wake()'s load. */
	atomic_store_explicit(&r->tail, tail, memory_order_seq_cst);
	wake(r);
}

void
room_extend(struct ring *r, uint64_t reserved)
{
	/* seq_cst: likewise. */
	atomic_store_explicit(&r->reserved, reserved, memory_order_seq_cst);
	wake(r);
}

void
room_settle(struct ring *r)
{
	/* relaxed: only this thread writes it. */
	const uint64_t reserved =
		atomic_load_explicit(&r->reserved, memory_order_relaxed);

	/*
	 * seq_cst: likewise.  The limit is higher for whoever reads this, and
	 * the mask that it then reads comes from the same word.
	 */
	atomic_store_explicit(&r->capacity, reserved, memory_order_seq_cst);
	wake(r);
}

bool
room_is_waited_for(const struct ring *r)
{
	/* relaxed: a hint to commit early; seen a round later does no harm. */
	return atomic_load_explicit(&r->waiting, memory_order_relaxed) != 0;
}
