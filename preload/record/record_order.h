/* SPDX-License-Identifier: MIT */
/*
 * record_order.h - stamps for events, so that the writer can order them
 *
 * hatf/rings/ORDER.md has the rules and their proof.  A thread calls these
 * functions for its own ring, while the ring is closed to signal handlers.
 */
#ifndef RECORD_ORDER_H
#define RECORD_ORDER_H

#include "preload/clock/clock.h"
#include "preload/clock/owners.h"
#include "preload/record/thread.h"

/* The memory that an event gives to a thread, or takes from it. */
struct record_block {
	uintptr_t address;
	size_t nbytes; /* the requested size or more; SIZE_MAX: unknown */
	bool is_end;   /* another thread can get the memory after the event */
};

/*
 * From now on, a thread needs no stamp for an event on pages that it owns
 * (owners.h).  Call this before a second thread has its first event.  This has
 * no effect if the allocator has no malloc_usable_size(), or if there is no
 * memory.
 */
void record_begin_owners(void);

/*
 * Return the usable size of the old block of a realloc, or SIZE_MAX if the
 * allocator has no malloc_usable_size().
 */
size_t record_old_nbytes(const void *p);

/*
 * Return the usable size of a live block of malloc(), calloc() or realloc(), or
 * SIZE_MAX if there is no table of owners, which needs the size.
 */
size_t record_block_nbytes(const void *p);

/*
 * Can this event do without a stamp, in stamped mode?  It can if the thread
 * owns the pages of the event's block, and if clock_bump() has not been called
 * since the thread's last stamp.
 */
static inline __attribute__((always_inline)) bool
record_is_ordered(const struct thread *t, const struct record_block *block)
{
	/*
	 * relaxed: if another thread has called clock_bump() and this thread
	 * learns of an event of that thread afterwards, the two threads have
	 * synchronized, and this thread reads the new epoch.
	 */
	return owners_table != NULL && block->nbytes <= OWNERS_BLOCK_NBYTES &&
	       atomic_load_explicit(&clock_epoch, memory_order_relaxed) ==
		       t->epoch &&
	       owners_have(t->owner, block->address, block->nbytes);
}

/*
 * Return a stamp for this event.  If the block has at most OWNERS_BLOCK_NBYTES,
 * also make 't' the owner of the block's pages.
 */
uint64_t record_stamp(struct thread *t, const struct record_block *block);

#endif /* RECORD_ORDER_H */
