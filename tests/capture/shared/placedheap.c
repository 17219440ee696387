/* SPDX-License-Identifier: MIT */
/*
 * placedheap.c - an allocator whose blocks lie where the program wants them
 *
 * Preloaded after the recorder.  After placedheap_next(p), the next malloc() of
 * the calling thread returns 'p', an address in placedheap_region().  All other
 * blocks are libc's.  The word before a block is the one of glibc's allocator,
 * and the library also has glibc's gnu_get_libc_version(), so that the recorder
 * takes it for glibc.
 */
#include <stddef.h>
#include <stdint.h>

#include "../programs/straddle.h"

void *__libc_malloc(size_t);
void __libc_free(void *);

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
	p[-1] = ((n + 8 + 15) & ~(size_t)15) | 1;
	return p;
}

void
free(void *p)
{
	if ((uintptr_t)p - (uintptr_t)region >= sizeof(region))
		__libc_free(p);
}

size_t
malloc_usable_size(void *p)
{
	return p != NULL ? (((const size_t *)p)[-1] & ~(size_t)7) - 8 : 0;
}
