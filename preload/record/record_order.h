/* SPDX-License-Identifier: MIT */
/*
 * record_order.h - what an event needs so that the writer can order it
 *
 * hatf/rings/ORDER.md has the rules and their proof.  Only the thread whose
 * ring it is calls the functions, while the ring is closed to handlers.
 */
#ifndef RECORD_ORDER_H
#define RECORD_ORDER_H

#include "preload/clock/clock.h"
#include "preload/clock/owners.h"
#include "preload/record/thread.h"

/* The memory that an event gives to a thread, or takes from it. */
struct record_block {
	uintptr_t address;
	size_t nbytes; /* an upper bound; SIZE_MAX: unknown */
	bool is_end;   /* another thread can get the memory after the event */
};

/*
 * From now on threads that own their pages do without stamps.  Call this before
 * the process has a second thread.  Nothing changes if the allocator has no
 * malloc_usable_size(), or if there is no memory.
 */
void record_begin_owners(void);

/*
 * The size of a block that malloc() and its kin have returned and that is not
 * yet freed.  SIZE_MAX: unknown.
 */
size_t record_block_nbytes(const void *p);

/*
 * Does the order of the thread's last stamp suffice for this event?  The clock
 * is in stamped mode.
 */
static inline __attribute__((always_inline)) bool
record_is_ordered(const struct thread *t, const struct record_block *block)
{
	/*
	 * relaxed: a thread cannot read an old number once it can see the
	 * consequences of what clock_bump() precedes.
	 */
	return owners_table != NULL && block->nbytes <= OWNERS_BLOCK_NBYTES &&
	       atomic_load_explicit(&clock_epoch, memory_order_relaxed) ==
		       t->epoch &&
	       owners_have(t->owner, block->address, block->nbytes);
}

/* Return a stamp for this event, and become the owner of its pages. */
uint64_t record_stamp(struct thread *t, const struct record_block *block);

#endif /* RECORD_ORDER_H */
