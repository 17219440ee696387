/* SPDX-License-Identifier: MIT */
/* record_order.c - see record_order.h */

#include "preload/record/record_order.h"

#include <stdint.h>

#include "preload/record/real.h"

void
record_begin_owners(void)
{
	if (atomic_load_explicit(&real_usable_size, memory_order_relaxed) !=
	    NULL)
		owners_begin();
}

/*
 * relaxed, all accesses: the count only says that this glibc has the header
 * that record_header_nbytes() expects.
 */
_Atomic uint32_t record_header_count;

/*
 * Count the blocks whose header agrees with malloc_usable_size().  If a header
 * does not agree, another library has changed the blocks, or this glibc has
 * another header.  In this case, never count again.
 */
static void
check_header(const void *p, size_t nbytes)
{
	uint32_t count = atomic_load_explicit(&record_header_count,
					      memory_order_relaxed);
	const uint64_t header = record_header(p);

	if (count >= RECORD_HEADERS_ENOUGH ||
	    (header & RECORD_HEADER_IS_MAPPED) != 0)
		return;
	if (record_header_nbytes(header) != nbytes)
		atomic_store_explicit(&record_header_count,
				      RECORD_HEADERS_DIFFER,
				      memory_order_relaxed);
	else
		/* If another thread has changed the count, that suffices. */
		atomic_compare_exchange_strong_explicit(
			&record_header_count, &count, count + 1,
			memory_order_relaxed, memory_order_relaxed);
}

size_t
record_block_nbytes(const void *p)
{
	real_usable_size_fn *const size_of =
		atomic_load_explicit(&real_usable_size, memory_order_relaxed);
	size_t nbytes;

	if (size_of == NULL)
		return SIZE_MAX;
	if (record_knows_headers()) {
		const uint64_t header = record_header(p);

		if ((header & RECORD_HEADER_IS_MAPPED) == 0)
			return record_header_nbytes(header);
	}
	nbytes = size_of((void *)(uintptr_t)p);
	if (atomic_load_explicit(&real_is_glibc, memory_order_relaxed))
		check_header(p, nbytes);
	return nbytes;
}

uint64_t
record_stamp(struct thread *t, const struct record_block *block)
{
	const bool is_small = block->nbytes <= OWNERS_BLOCK_NBYTES;
	uint64_t epoch, stamp;
	bool is_owner;

	if (owners_table == NULL)
		return clock_stamp();
	/*
	 * relaxed: if the epoch changes after this load, the old value is
	 * stored in t->epoch below, and 't' therefore stamps its next event,
	 * too.
	 */
	epoch = atomic_load_explicit(&clock_epoch, memory_order_relaxed);
	if (is_small)
		owners_claim(t->owner, block->address, block->nbytes);
	stamp = clock_stamp();
	clock_end_stamp();
	is_owner = is_small &&
		   owners_have(t->owner, block->address, block->nbytes);
	/*
	 * If this thread does not own all pages of the block now, the table of
	 * owners cannot order this event and later events of other threads, so
	 * make all threads stamp their next events.  There are two cases:
	 *
	 * - The block is small, but another thread has claimed a page
	 *   meanwhile, perhaps before this thread read the clock.
	 * - The block is large, or its size is unknown, so this thread has
	 *   claimed no pages.  In this case the order matters only if the event
	 *   ends the block's life.
	 */
	if (!is_owner && (is_small || block->is_end))
		clock_bump();
	t->epoch = epoch;
	return stamp;
}
