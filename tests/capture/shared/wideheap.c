/* SPDX-License-Identifier: MIT */
/*
 * wideheap.c - an allocator with a slow realloc
 *
 * Preloaded after the recorder.  Blocks of WIDE_NBYTES come from a few slots,
 * always the lowest free one, so that the next call gets the block that a
 * thread gave up; all other blocks are libc's.  A realloc of such a block
 * always moves it, and sleeps WIDEHEAP_US microseconds after it has given up
 * the old slot.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../programs/wide.h"

#define SLOTS 64

void *__libc_malloc(size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static _Alignas(16) char slots[SLOTS][WIDE_NBYTES];
static atomic_ullong taken;

atomic_int wideheap_inside;

static void *
take(void)
{
	unsigned long long now = atomic_load(&taken);
	unsigned i;

	do {
		if (now == ~0ull)
			return NULL;
		i = (unsigned)__builtin_ctzll(~now);
	} while (!atomic_compare_exchange_weak(&taken, &now, now | 1ull << i));
	return slots[i];
}

static int
is_slot(const void *p)
{
	return (uintptr_t)p - (uintptr_t)slots < sizeof(slots);
}

static void
give(const void *p)
{
	const size_t i = ((uintptr_t)p - (uintptr_t)slots) / WIDE_NBYTES;

	atomic_fetch_and(&taken, ~(1ull << i));
}

static void
nap(void)
{
	const char *const us = getenv("WIDEHEAP_US");

	usleep(us != NULL ? (useconds_t)atoi(us) : 0);
}

void *
malloc(size_t n)
{
	return n == WIDE_NBYTES ? take() : __libc_malloc(n);
}

void
free(void *p)
{
	if (is_slot(p))
		give(p);
	else
		__libc_free(p);
}

void *
realloc(void *p, size_t n)
{
	void *to;

	if (!is_slot(p))
		return __libc_realloc(p, n);
	to = take();
	if (to == NULL)
		return NULL;
	memcpy(to, p, WIDE_NBYTES);
	give(p);
	atomic_fetch_add(&wideheap_inside, 1);
	nap();
	atomic_fetch_sub(&wideheap_inside, 1);
	return to;
}
