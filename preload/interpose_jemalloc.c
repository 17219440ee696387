/* SPDX-License-Identifier: MIT */
/*
 * interpose_jemalloc.c - the functions that jemalloc has beyond C's
 *
 * As in interpose.c, event for event; what is behind the other functions of its
 * interface (nallocx, sallocx, mallctl) are no allocations.  These are not exported,
 * see patch.h.
 */

#include <stdint.h>

#include "jemalloc.h"
#include "patch.h"
#include "record.h"

/* <jemalloc/jemalloc.h>: the alignment's logarithm, and a bit for zeroed. */
#define LG_ALIGN(flags) ((flags)&63)
#define ZERO		0x40

enum {
	MALLOCX,
	RALLOCX,
	XALLOCX,
	DALLOCX,
	SDALLOCX,
};

typedef void *mallocx_fn(size_t, int);
typedef void *rallocx_fn(void *, size_t, int);
typedef size_t xallocx_fn(void *, size_t, size_t, int);
typedef void dallocx_fn(void *, int);
typedef void sdallocx_fn(void *, size_t, int);

static mallocx_fn our_mallocx;
static rallocx_fn our_rallocx;
static xallocx_fn our_xallocx;
static dallocx_fn our_dallocx;
static sdallocx_fn our_sdallocx;

static struct patch patches[] = {
	[MALLOCX] = { "mallocx", (void *)(uintptr_t)our_mallocx, NULL },
	[RALLOCX] = { "rallocx", (void *)(uintptr_t)our_rallocx, NULL },
	[XALLOCX] = { "xallocx", (void *)(uintptr_t)our_xallocx, NULL },
	[DALLOCX] = { "dallocx", (void *)(uintptr_t)our_dallocx, NULL },
	[SDALLOCX] = { "sdallocx", (void *)(uintptr_t)our_sdallocx, NULL },
};

#define REAL(type, which) ((type *)(uintptr_t)patches[which].real)

static void *
our_mallocx(size_t size, int flags)
{
	void *const p = REAL(mallocx_fn, MALLOCX)(size, flags);

	if (LG_ALIGN(flags) != 0)
		record_event(EVENT_ALLOC, 0, (uintptr_t)p, size,
			     1ull << LG_ALIGN(flags));
	else
		record_alloc_wide(p, size,
				  (flags & ZERO) != 0 ? EVENT_FLAG_ZEROED : 0);
	return p;
}

static void *
our_rallocx(void *old, size_t size, int flags)
{
	const bool dormant = record_is_dormant();
	struct thread *const t = dormant ? NULL : record_realloc_begin(old);
	void *const p = REAL(rallocx_fn, RALLOCX)(old, size, flags);

	if (t != NULL)
		record_realloc_end(t, 0, old, p, size);
	else if (dormant && p != NULL)
		record_alloc_wide(p, size, 0);
	return p;
}

/* Where it is: the block has the new size, or things are as they were. */
static size_t
our_xallocx(void *p, size_t size, size_t extra, int flags)
{
	const bool dormant = record_is_dormant();
	struct thread *const t = dormant ? NULL : record_realloc_begin(p);
	const size_t result = REAL(xallocx_fn, XALLOCX)(p, size, extra, flags);

	if (t != NULL)
		record_realloc_end(t, 0, p, result >= size ? p : NULL, size);
	return result;
}

static void
our_dallocx(void *p, int flags)
{
	record_free_rest(p);
	REAL(dallocx_fn, DALLOCX)(p, flags);
}

static void
our_sdallocx(void *p, size_t size, int flags)
{
	record_free_rest(p);
	REAL(sdallocx_fn, SDALLOCX)(p, size, flags);
}

void
jemalloc_patch(void)
{
	/* What only a jemalloc has as well. */
	static const char *const markers[] = { "mallctl", "nallocx", NULL };

	patch_calls(patches, sizeof(patches) / sizeof(patches[0]), markers);
}
