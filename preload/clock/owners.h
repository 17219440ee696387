/* SPDX-License-Identifier: MIT */
/*
 * owners.h - which thread had the last event on each page of the heap
 *
 * A stamp with its fence is the most expensive part of an event (clock.h).
 * Most pages of a heap are used by one thread for a long time, so most events
 * need no stamp: the events of one thread are in order anyway.  A shared table
 * has, for each page, the number of the thread that last claimed the page.  A
 * thread that finds its own number there records the event without a stamp.  A
 * thread that finds another number stores its own, and stamps the event.
 *
 * hatf/rings/ORDER.md explains why the trace then has the events in the right
 * order, and when else a thread takes a stamp.
 *
 * Several pages share an entry of the table.  Because of this sharing, a thread
 * stamps more often than it must, but the order stays right.
 *
 * Any thread may call these functions, even in a signal handler and inside
 * malloc().
 */
#ifndef OWNERS_H
#define OWNERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table has 2^OWNERS_BITS entries of 4 bytes. */
#define OWNERS_BITS	 19
#define OWNERS_PAGE_BITS 12

/*
 * The pages of one region of 64 MiB have neighbouring entries.  The heaps of
 * glibc's arenas have this size.
 */
#define OWNERS_REGION_BITS 26

/*
 * A thread that has an event on a block of more than this many bytes claims no
 * page, but stamps the event.  If the event is a free or begins a realloc, the
 * thread also makes all threads stamp their next event.
 */
#define OWNERS_BLOCK_NBYTES ((size_t)128 << 10)

/* The number of a thread that owns no page. */
#define OWNERS_NOBODY 0u

/* NULL until owners_begin() has succeeded, then constant. */
extern _Atomic uint32_t *owners_table __attribute__((visibility("hidden")));

/*
 * Map the table, 2 MiB of address space of which little is touched.  Call this
 * before a second thread has its first event.  Return false if there is no
 * memory.  The child of a fork begins with an empty table.
 */
bool owners_begin(void);

/*
 * Return a number that no other thread of this process has, or OWNERS_NOBODY if
 * all numbers are used.
 */
uint32_t owners_new_number(void);

/* Return the table's entry for an address. */
static inline _Atomic uint32_t *
owners_entry(uintptr_t address)
{
	/* Spread the regions of 64 MiB over the table. */
	const uint64_t region =
		(address >> OWNERS_REGION_BITS) * 0x9e3779b97f4a7c15ull;
	const uint64_t page = address >> OWNERS_PAGE_BITS;

	return &owners_table[(page ^ region >> (64 - OWNERS_BITS)) &
			     ((1u << OWNERS_BITS) - 1)];
}

/*
 * Like owners_have(), but inline even for a block on two pages.  Also return
 * false if 'nbytes' is 0 or more than a page.
 */
static inline __attribute__((always_inline)) bool
owners_have_small(uint32_t self, uintptr_t address, size_t nbytes)
{
	const uintptr_t last = address + nbytes - 1;

	/* relaxed, both: see owners_have(). */
	if (__builtin_expect(
		    nbytes - 1 >= (size_t)1 << OWNERS_PAGE_BITS ||
			    atomic_load_explicit(owners_entry(address),
						 memory_order_relaxed) != self,
		    0))
		return false;
	return __builtin_expect((address ^ last) >> OWNERS_PAGE_BITS == 0, 1) ||
	       atomic_load_explicit(owners_entry(last), memory_order_relaxed) ==
		       self;
}

/*
 * Like owners_have(), for a block whose first byte is at 'address' and whose
 * last byte is at 'last', perhaps on another page.
 */
bool owners_have_pages(uint32_t self, uintptr_t address, uintptr_t last);

/*
 * Does the thread 'self' own all pages of the block?  The block has at most
 * OWNERS_BLOCK_NBYTES.
 */
static inline __attribute__((always_inline)) bool
owners_have(uint32_t self, uintptr_t address, size_t nbytes)
{
	const uintptr_t last = address + nbytes - (nbytes != 0);

	/*
	 * relaxed: when a thread gets memory from another thread, the two have
	 * synchronized.  The thread that gets the memory then cannot read an
	 * older owner than the other thread read or wrote.
	 */
	if (__builtin_expect(atomic_load_explicit(owners_entry(address),
						  memory_order_relaxed) != self,
			     0))
		return false;
	return __builtin_expect((address ^ last) >> OWNERS_PAGE_BITS == 0, 1) ||
	       owners_have_pages(self, address, last);
}

/*
 * Make the thread 'self' the owner of the block's pages.  This is a full
 * barrier unless 'self' already owns all of them.
 */
void owners_claim(uint32_t self, uintptr_t address, size_t nbytes);

#endif /* OWNERS_H */
