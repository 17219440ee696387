/* SPDX-License-Identifier: MIT */
/* memory.c - see memory.h */

#include "memory.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* Since Linux 5.17 (private mappings) and 6.2 (shared ones); older ones refuse,
 * which does no harm. */
#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

static _Atomic uint64_t mapped[MEMORY_KINDS];

/* relaxed, all four: sums, of which nothing else depends. */
uint64_t
memory_mapped(enum memory_kind kind)
{
	return atomic_load_explicit(&mapped[kind], memory_order_relaxed);
}

void
memory_count(enum memory_kind kind, uint64_t nbytes)
{
	atomic_fetch_add_explicit(&mapped[kind], nbytes, memory_order_relaxed);
}

void
memory_uncount(enum memory_kind kind, uint64_t nbytes)
{
	atomic_fetch_sub_explicit(&mapped[kind], nbytes, memory_order_relaxed);
}

void
memory_begin_child(void)
{
	atomic_store_explicit(&mapped[MEMORY_PASSING], 0, memory_order_relaxed);
	atomic_store_explicit(&mapped[MEMORY_SHARED], 0, memory_order_relaxed);
}

static void *
map(size_t nbytes, int flags)
{
	void *const p = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
			     flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, nbytes, "hatftrace");
	return p;
}

void *
memory_map_wiped(size_t nbytes)
{
	void *const p = map(nbytes, MAP_PRIVATE);

	if (p != NULL && madvise(p, nbytes, MADV_WIPEONFORK) != 0) {
		munmap(p, nbytes);
		return NULL;
	}
	if (p != NULL)
		memory_count(MEMORY_LASTING, nbytes);
	return p;
}

static void *
map_unforked(size_t nbytes, int flags)
{
	void *const p = map(nbytes, flags);

	if (p != NULL && madvise(p, nbytes, MADV_DONTFORK) != 0) {
		munmap(p, nbytes);
		return NULL;
	}
	if (p != NULL)
		memory_count((flags & MAP_SHARED) != 0 ? MEMORY_SHARED
						       : MEMORY_PASSING,
			     nbytes);
	return p;
}

void *
memory_map_shared(size_t nbytes)
{
	return map_unforked(nbytes, MAP_SHARED);
}

void *
memory_map_private(size_t nbytes)
{
	return map_unforked(nbytes, MAP_PRIVATE);
}

void *
memory_map_forked(size_t nbytes)
{
	void *const p = map(nbytes, MAP_PRIVATE);

	if (p != NULL)
		memory_count(MEMORY_LASTING, nbytes);
	return p;
}

void
memory_unmap(void *p, size_t nbytes, enum memory_kind kind)
{
	munmap(p, nbytes);
	memory_uncount(kind, nbytes);
}

bool
memory_map_at(void *p, size_t nbytes)
{
	return mmap(p, nbytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			    MAP_FIXED_NOREPLACE,
		    -1, 0) == p;
}

void
memory_drop(void *p, size_t nbytes)
{
	madvise(p, nbytes, MADV_REMOVE);
}
