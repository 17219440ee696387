/* SPDX-License-Identifier: MIT */
/* memory.c - see memory.h */

#include "memory.h"

#include <sys/mman.h>
#include <sys/prctl.h>

/* Since Linux 5.17 (private mappings) and 6.2 (shared ones); older ones refuse,
 * which does no harm. */
#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

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
	return map(nbytes, MAP_PRIVATE);
}

void
memory_unmap(void *p, size_t nbytes)
{
	munmap(p, nbytes);
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
