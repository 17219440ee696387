/* SPDX-License-Identifier: MIT */
/*
 * splitheap.c - an allocator that hands out a part of a block under realloc
 *
 * Preloaded after the recorder.  Up to two blocks of SPLIT_NBYTES are live at a
 * time, in two slots; all other blocks are libc's.  A realloc of such a block
 * moves it to the other slot.  While the realloc waits, other threads get
 * blocks of SPLIT_PART_NBYTES from the middle of the old block, as they would
 * from an allocator that has freed the old block and split its memory.  The
 * realloc returns when SPLIT_PARTS of these blocks are freed again, or after a
 * second.  malloc_usable_size() changes errno.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "../programs/split.h"

void *__libc_malloc(size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static _Alignas(64) char slots[2][SPLIT_NBYTES];
static atomic_bool is_taken;

/* The old block of the realloc that waits, or NULL. */
static char *_Atomic old_block;
static atomic_int parts_left;

static int
is_in_slot(const void *p)
{
	return (uintptr_t)p - (uintptr_t)slots < sizeof(slots);
}

/* Does a realloc wait for blocks of SPLIT_PART_NBYTES? */
int
splitheap_waits(void)
{
	return atomic_load(&parts_left) > 0;
}

void *
malloc(size_t n)
{
	char *const old = atomic_load(&old_block);

	if (n == SPLIT_PART_NBYTES && old != NULL)
		return old + SPLIT_NBYTES / 2;
	if (n == SPLIT_NBYTES && !atomic_exchange(&is_taken, 1))
		return slots[0];
	return __libc_malloc(n);
}

void
free(void *p)
{
	if (!is_in_slot(p))
		__libc_free(p);
	else if (p == slots[0] || p == slots[1])
		atomic_store(&is_taken, 0);
	else
		atomic_fetch_sub(&parts_left, 1);
}

void *
realloc(void *p, size_t n)
{
	if (!is_in_slot(p))
		return __libc_realloc(p, n);
	atomic_store(&old_block, p);
	atomic_store(&parts_left, SPLIT_PARTS);
	for (int i = 0; i < 10000 && splitheap_waits(); i++)
		usleep(100);
	atomic_store(&parts_left, 0);
	atomic_store(&old_block, NULL);
	return slots[p == (void *)slots[0]];
}

size_t
malloc_usable_size(void *p)
{
	errno = EDOM;
	if (p == NULL)
		return 0;
	if (is_in_slot(p))
		return p == slots[0] || p == slots[1] ? SPLIT_NBYTES
						      : SPLIT_PART_NBYTES;
	/* The head of a chunk of glibc has its size, and flags in 4 bits. */
	return (((const size_t *)p)[-1] & ~(size_t)15) - sizeof(size_t);
}
