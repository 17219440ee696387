/* SPDX-License-Identifier: MIT */
/*
 * placedheap.c - an allocator whose blocks lie where the program wants them
 *
 * Preloaded after the recorder.  After placedheap_next(p), the next malloc() of
 * the calling thread returns 'p', an address in placedheap_region().  All other
 * blocks are libc's.  The library has glibc's gnu_get_libc_version(), so that
 * the recorder takes it for glibc.  The word before a block is the same as in
 * glibc's allocator or, with PLACEDHEAP_LIES=1, that of a shorter block.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../programs/straddle.h"

void *__libc_malloc(size_t);
void __libc_free(void *);

/* The size of a block of glibc's for 'n' bytes, its header included. */
#define HEADER(n) (((n) + 8 + 15) & ~(size_t)15)

static _Alignas(4096) char region[STRADDLE_NBYTES];
static __thread size_t *next;

char *
placedheap_region(void)
{
	return region;
}

void
placedheap_next(void *p)
{
	next = p;
}

const char *
gnu_get_libc_version(void)
{
	return "0";
}

void *
malloc(size_t n)
{
	size_t *const p = next;

	if (p == NULL)
		return __libc_malloc(n);
	next = NULL;
	p[-1] = (getenv("PLACEDHEAP_LIES") != NULL ? 32 : HEADER(n)) | 1;
	return p;
}

static int
is_placed(const void *p)
{
	return (uintptr_t)p - (uintptr_t)region < sizeof(region);
}

void
free(void *p)
{
	if (!is_placed(p))
		__libc_free(p);
}

size_t
malloc_usable_size(void *p)
{
	if (p == NULL)
		return 0;
	if (is_placed(p))
		return HEADER(STRADDLE_BLOCK) - 8;
	return (((const size_t *)p)[-1] & ~(size_t)7) - 8;
}
