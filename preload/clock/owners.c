/* SPDX-License-Identifier: MIT */
/* owners.c - see owners.h */

#include "preload/clock/owners.h"

#include "preload/sys/memory.h"

_Atomic uint32_t *owners_table;

static _Atomic uint32_t number_count;

bool
owners_begin(void)
{
	if (owners_table == NULL)
		owners_table =
			memory_map_wiped(sizeof(*owners_table) << OWNERS_BITS);
	return owners_table != NULL;
}

uint32_t
owners_new_number(void)
{
	/* relaxed: the number must be unique; no other access depends on it. */
	uint32_t n = atomic_load_explicit(&number_count, memory_order_relaxed);

	/* When all numbers are used, further threads get OWNERS_NOBODY. */
	do {
		if (n == UINT32_MAX)
			return OWNERS_NOBODY;
	} while (!atomic_compare_exchange_weak_explicit(
		&number_count, &n, n + 1, memory_order_relaxed,
		memory_order_relaxed));
	return n + 1;
}

bool
owners_have_pages(uint32_t self, uintptr_t address, uintptr_t last)
{
	const uintptr_t end = last >> OWNERS_PAGE_BITS;

	for (uintptr_t page = address >> OWNERS_PAGE_BITS; page <= end; page++)
		/* relaxed: see owners_have(). */
		if (atomic_load_explicit(owners_entry(page << OWNERS_PAGE_BITS),
					 memory_order_relaxed) != self)
			return false;
	return true;
}

void
owners_claim(uint32_t self, uintptr_t address, size_t nbytes)
{
	const uintptr_t last = address + nbytes - (nbytes != 0);

	const uintptr_t end = last >> OWNERS_PAGE_BITS;

	/*
	 * seq_cst: all threads can see the claim before the caller reads the
	 * clock.
	 */
	for (uintptr_t page = address >> OWNERS_PAGE_BITS; page <= end;
	     page++) {
		_Atomic uint32_t *const entry =
			owners_entry(page << OWNERS_PAGE_BITS);

		if (atomic_load_explicit(entry, memory_order_relaxed) != self)
			atomic_exchange_explicit(entry, self,
						 memory_order_seq_cst);
	}
}
