/* SPDX-License-Identifier: MIT */
/* room.c - see room.h */

#include "room.h"

#include "sys.h"

void
room_wait(struct ring *r, uint64_t need_limit, uint64_t timeout_ns)
{
	/*
	 * seq_cst here and in room_release(): 'waiting' is stored before 'tail'
	 * is read, there 'tail' before 'waiting'; one of the two sides must see
	 * the other.  (The time-out would mend a miss, late.)
	 */
	atomic_store_explicit(&r->waiting, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&r->tail, memory_order_seq_cst) + r->capacity <
	    need_limit)
		sys_futex_wait(&r->waiting, 1, timeout_ns);
	/* relaxed: the flag orders nothing. */
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
}

void
room_release(struct ring *r, uint64_t tail)
{
	/*
	 * seq_cst: a release for ring_limit(), and ordered before the load of
	 * 'waiting', see room_wait().
	 */
	atomic_store_explicit(&r->tail, tail, memory_order_seq_cst);
	if (atomic_load_explicit(&r->waiting, memory_order_seq_cst) == 0)
		return;
	/* relaxed: the futex call orders it. */
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	sys_futex_wake(&r->waiting);
}

bool
room_is_waited_for(const struct ring *r)
{
	/* relaxed: a hint to commit early; seen a round later does no harm. */
	return atomic_load_explicit(&r->waiting, memory_order_relaxed) != 0;
}
