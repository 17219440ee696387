/* SPDX-License-Identifier: MIT */
/* memory.c - see memory.h */

#include "preload/sys/memory.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload/sys/filter.h"
#include "preload/sys/sys.h"

/*
 * Linux can name private mappings since 5.17, and shared ones since 6.2.  Older
 * kernels refuse PR_SET_VMA, which does no harm.
 */
#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

static _Atomic uint64_t mapped[MEMORY_KINDS];

/* relaxed, all accesses of 'mapped': no other data depends on these sums. */
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

/* Size of a huge page.  A smaller mapping contains none. */
#define HUGE_NBYTES ((size_t)2 << 20)

static void *
map(size_t nbytes, int flags)
{
	void *const p = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
			     flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Refuse huge pages.  With them, touching one byte would take 2 MiB. */
	if ((flags & MAP_PRIVATE) != 0 && nbytes >= HUGE_NBYTES)
		madvise(p, nbytes, MADV_NOHUGEPAGE);
	if (!filter_is_expected())
		prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, nbytes, "hatftrace");
	return p;
}

static void *
map_wiped(size_t nbytes)
{
	void *const p = map(nbytes, MAP_PRIVATE);

	if (p != NULL && madvise(p, nbytes, MADV_WIPEONFORK) != 0) {
		munmap(p, nbytes);
		return NULL;
	}
	return p;
}

/*
 * The arena is one mapping for the memory that every process needs.  With the
 * default settings it holds the writer's memory, the first structs of threads,
 * the writer thread's stack and small pieces.  In a short process, separate
 * mappings would take as much time as writing the trace.
 */
#define ARENA_NBYTES ((size_t)4608 << 10)

static _Atomic(uint8_t *) arena;
static _Atomic size_t arena_used;

static bool
is_unlimited(int resource)
{
	struct rlimit limit;

	return getrlimit((__rlimit_resource_t)resource, &limit) == 0 &&
	       limit.rlim_cur == RLIM_INFINITY;
}

void
memory_prepare(void)
{
	uint8_t *none = NULL, *mine;

	/* acquire: pairs with the exchange below. */
	if (atomic_load_explicit(&arena, memory_order_acquire) != NULL ||
	    !is_unlimited(RLIMIT_AS) || !is_unlimited(RLIMIT_DATA))
		return;
	mine = map_wiped(ARENA_NBYTES);
	if (mine == NULL)
		return;
	/* If another thread was faster, use its mapping. */
	if (!atomic_compare_exchange_strong_explicit(&arena, &none, mine,
						     memory_order_acq_rel,
						     memory_order_acquire))
		munmap(mine, ARENA_NBYTES);
}

/*
 * Take the next piece of the arena, downwards from its end.  Libraries are
 * mapped just above the arena, so the first pieces and the libraries share a
 * page of the page table.  Return NULL if the arena has too few bytes left.
 */
static void *
take_piece(size_t nbytes)
{
	const size_t page = sys_page_nbytes();
	/*
	 * Give a large piece whole pages, since the caller may protect or unmap
	 * it.
	 */
	const size_t unit = nbytes < page ? 64 : page;
	const size_t need = (nbytes + unit - 1) & ~(unit - 1);
	uint8_t *const base =
		atomic_load_explicit(&arena, memory_order_acquire);
	size_t used, end;

	if (base == NULL)
		return NULL;
	/* relaxed, both accesses: no other data depends on 'arena_used'. */
	used = atomic_load_explicit(&arena_used, memory_order_relaxed);
	do {
		end = (used + unit - 1) & ~(unit - 1);
		if (need > ARENA_NBYTES - end)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&arena_used, &used, end + need, memory_order_relaxed,
		memory_order_relaxed));
	return base + (ARENA_NBYTES - end - need);
}

void *
memory_map_wiped(size_t nbytes)
{
	void *p = take_piece(nbytes);

	if (p == NULL)
		p = map_wiped(nbytes);
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
memory_map_ring(size_t nbytes)
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
