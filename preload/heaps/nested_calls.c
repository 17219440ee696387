/* SPDX-License-Identifier: MIT */
/* nested_calls.c - see nested_calls.h */

#include "preload/heaps/nested_calls.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/heaps/heap_calls.h"
#include "preload/heaps/patch_calls.h"
#include "preload/record/real.h"
#include "preload/record/thread.h"
#include "preload/sys/elf_dynamic.h"
#include "preload/sys/elf_lookup.h"

/* The allocator's functions, to which the functions below pass the calls. */
static struct real loud;

/*
 * Mute the thread, except if it is muted already.  Return the argument of
 * unmute_thread().  A signal handler may allocate between any two assignments.
 */
static struct thread *
mute_thread(void)
{
	struct thread *const outer = thread_behind;

	if (thread_self == &thread_muted)
		return &thread_muted;
	thread_behind = thread_self;
	atomic_signal_fence(memory_order_seq_cst);
	thread_self = &thread_muted;
	return outer;
}

/*
 * Undo mute_thread().  If a fork was made meanwhile, and this is the child,
 * thread_repair_interrupted() may have changed 'thread_behind'.
 */
static void
unmute_thread(struct thread *outer)
{
	if (outer == &thread_muted)
		return;
	thread_self = thread_behind;
	atomic_signal_fence(memory_order_seq_cst);
	thread_behind = outer;
}

/*
 * Run 'call', with the calls that this thread makes meanwhile not recorded.
 * Except for a fork, nothing in 'call' changes the thread's struct: a thread is
 * attached by a call that is recorded.
 */
#define MUTED(call)                                 \
	struct thread *const outer = mute_thread(); \
	call;                                       \
	unmute_thread(outer)

static void *
muted_malloc(size_t size)
{
	void *p;

	MUTED(p = loud.malloc(size));
	return p;
}

static void
muted_free(void *p)
{
	MUTED(loud.free(p));
}

static void *
muted_calloc(size_t n, size_t size)
{
	void *p;

	MUTED(p = loud.calloc(n, size));
	return p;
}

static void *
muted_realloc(void *old, size_t size)
{
	void *p;

	MUTED(p = loud.realloc(old, size));
	return p;
}

static void *
muted_memalign(size_t alignment, size_t size)
{
	void *p;

	MUTED(p = loud.memalign(alignment, size));
	return p;
}

static int
muted_posix_memalign(void **p_ret, size_t alignment, size_t size)
{
	int result;

	MUTED(result = loud.posix_memalign(p_ret, alignment, size));
	return result;
}

static void *
muted_aligned_alloc(size_t alignment, size_t size)
{
	void *p;

	MUTED(p = loud.aligned_alloc(alignment, size));
	return p;
}

static void *
muted_valloc(size_t size)
{
	void *p;

	MUTED(p = loud.valloc(size));
	return p;
}

static void *
muted_pvalloc(size_t size)
{
	void *p;

	MUTED(p = loud.pvalloc(size));
	return p;
}

/* real.free_any() calls real.free() if there are early blocks. */
static void
mute(void)
{
	const bool has_early = real.free_any != real.free;

	loud = real;
	real.malloc = muted_malloc;
	real.free = muted_free;
	if (!has_early)
		real.free_any = muted_free;
	real.calloc = muted_calloc;
	real.realloc = muted_realloc;
	real.memalign = muted_memalign;
	real.posix_memalign = muted_posix_memalign;
	real.aligned_alloc = muted_aligned_alloc;
	real.valloc = muted_valloc;
	real.pvalloc = muted_pvalloc;
}

/* Is the slot that of a call to a function that the object itself defines? */
static void
note_slot(const struct patch_slot *slot, void *context)
{
	bool *const is_nested = context;

	if (heap_calls_has(slot->name) &&
	    elf_lookup_defines(slot->dynamic, slot->name))
		*is_nested = true;
}

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct dynamic dynamic;

	(void)nbytes;
	if (!elf_dynamic_has(info, PT_LOAD, (uintptr_t)real_allocator))
		return 0;
	if (elf_dynamic_read(info, &dynamic))
		patch_each_slot(info, &dynamic, note_slot, context);
	return 1;
}

/* Is the allocator one whose functions are known not to call one another? */
static bool
is_known(void)
{
	static const char *const markers[] = {
		"__libc_start_main", /* libc */
		"mallctl",	     /* jemalloc */
		"tc_malloc",	     /* tcmalloc */
		"mi_malloc",	     /* mimalloc */
	};

	for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
		if (elf_lookup_beside(real_allocator, markers[i]))
			return true;
	return false;
}

void
nested_calls_mute(void)
{
	bool is_nested = false;

	if (is_known())
		return;
	dl_iterate_phdr(visit, &is_nested);
	if (is_nested)
		mute();
}
