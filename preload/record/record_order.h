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
 * Return the usable size of a live block of malloc(), calloc() or realloc(), or
 * SIZE_MAX if the allocator has no malloc_usable_size().
 */
size_t record_block_nbytes(const void *p);

/*
 * glibc's allocator stores a header, one word, before each block: the size of
 * the block including this word, with flags in the lowest three bits.
 * malloc_usable_size() reads this word, too, but it takes several times as
 * long, since it also reads the header of the next block.
 */
#define RECORD_HEADER_BITS	UINT64_C(7)
#define RECORD_HEADER_IS_MAPPED UINT64_C(2) /* the block has its own mapping */

static inline __attribute__((always_inline)) uint64_t
record_header(const void *p)
{
	/*
	 * relaxed: another thread may change one of the three bits when it
	 * frees the block before this one.
	 */
	return atomic_load_explicit((const _Atomic uint64_t *)p - 1,
				    memory_order_relaxed);
}

/* The usable size of a block with this header, without its own mapping. */
static inline __attribute__((always_inline)) size_t
record_header_nbytes(uint64_t header)
{
	return (header & ~RECORD_HEADER_BITS) - sizeof(header);
}

/*
 * How many blocks of the program had such a header so far?  Once the count is
 * RECORD_HEADERS_ENOUGH, assume that all blocks have one.  The count becomes
 * RECORD_HEADERS_DIFFER if a block has none.
 */
#define RECORD_HEADERS_ENOUGH UINT32_C(64)
#define RECORD_HEADERS_DIFFER UINT32_MAX
extern _Atomic uint32_t record_header_count
	__attribute__((visibility("hidden")));

static inline __attribute__((always_inline)) bool
record_knows_headers(void)
{
	/* relaxed: the count says nothing about other data. */
	return atomic_load_explicit(&record_header_count,
				    memory_order_relaxed) ==
	       RECORD_HEADERS_ENOUGH;
}

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
 * Like record_is_ordered(), for a block of 'nbytes' bytes at 'address'.  The
 * answer is also false if the block has more bytes than a page, or none.  This
 * function calls no other, so that its callers need no stack frame.
 */
static inline __attribute__((always_inline)) bool
record_is_ordered_small(const struct thread *t, uintptr_t address,
			size_t nbytes)
{
	/* relaxed: see record_is_ordered(). */
	return owners_table != NULL &&
	       atomic_load_explicit(&clock_epoch, memory_order_relaxed) ==
		       t->epoch &&
	       owners_have_small(t->owner, address, nbytes);
}

/*
 * Return a stamp for this event.  If the block has at most OWNERS_BLOCK_NBYTES,
 * also make 't' the owner of the block's pages.
 */
uint64_t record_stamp(struct thread *t, const struct record_block *block);

#endif /* RECORD_ORDER_H */
