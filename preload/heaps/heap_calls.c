/* SPDX-License-Identifier: MIT */
/* heap_calls.c - see heap_calls.h */

#include "preload/heaps/heap_calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/hatftrace.h"
#include "preload/heaps/patch_calls.h"
#include "preload/record/real.h"
#include "preload/record/record.h"
#include "preload/sys/elf_lookup.h"
#include "preload/sys/export.h"

/*
 * Finds the heap of a block; heap_calls_begin() sets this.  NULL: malloc()
 * allocates from none of the known heaps.
 */
static _Atomic(heap_calls_of_fn *) of_plain;

struct pool *
heap_calls_of(const void *p)
{
	/*
	 * relaxed: no other data depends on the pointer.  A thread that has a
	 * block of a heap has synchronized with the thread that made the heap,
	 * and so sees the pointer.
	 */
	heap_calls_of_fn *const of =
		atomic_load_explicit(&of_plain, memory_order_relaxed);

	return of != NULL ? of(p) : NULL;
}

static struct pool *
taken(const void *p, size_t *size_ret)
{
	return heap_table_is_used() && p != NULL ? heap_table_take(p, size_ret)
						 : NULL;
}

static void
settle(struct pool *pool)
{
	const uint64_t gone = heap_table_settle(pool);

	if (gone != 0)
		hatftrace_client_heap_destroy(gone);
}

size_t
heap_calls_product(size_t n, size_t size)
{
	size_t nbytes;

	return __builtin_mul_overflow(n, size, &nbytes) ? SIZE_MAX : nbytes;
}

/* Allocations ------------------------------------------------------------- */

void *
heap_calls_took(struct pool *pool, void *p, size_t size, size_t alignment,
		unsigned flags)
{
	if (pool != NULL && (p == NULL || heap_table_put(pool, p, size))) {
		const uint64_t operand[4] = { (uintptr_t)p, size,
					      heap_table_number(pool),
					      alignment };

		record_operands(EVENT_HEAP_ALLOC, flags, operand);
		return p;
	}
	if (record_is_dormant())
		return p;
	if (alignment == 0)
		return flags == EVENT_FLAG_ZEROED ? record_calloc(p, size)
						  : record_alloc(p, size);
	record_event(EVENT_ALLOC, flags, (uintptr_t)p, size, alignment);
	return p;
}

/* Frees ------------------------------------------------------------------- */

bool
heap_calls_drop_other(const void *p)
{
	size_t size;
	struct pool *const pool = taken(p, &size);

	if (pool == NULL)
		return false;
	record_event(EVENT_HEAP_FREE, 0, (uintptr_t)p, heap_table_number(pool),
		     0);
	settle(pool);
	return true;
}

void
heap_calls_drop(const void *p)
{
	if (p != NULL && !heap_calls_drop_other(p) && !record_is_dormant() &&
	    !record_free(p))
		record_free_of_pool(p);
}

/* Reallocs ---------------------------------------------------------------- */

static struct heap_calls_change
begin_change(struct pool *from, size_t old_size, void *old, size_t size)
{
	struct heap_calls_change c = {
		.from = from,
		.old = old,
		.old_size = old_size,
		.size = size,
		.is_dormant = record_is_dormant(),
	};

	if (c.is_dormant || old == NULL)
		return c;
	c.thread = from != NULL ? record_heap_realloc_begin(
					  old, heap_table_number(from))
				: record_pool_realloc_begin(old);
	return c;
}

struct heap_calls_change
heap_calls_change_begin(void *old, size_t size)
{
	size_t old_size = 0;
	struct pool *const from = taken(old, &old_size);

	return begin_change(from, old_size, old, size);
}

/*
 * Has the block moved to another heap?  A block that did not move is in the
 * same heap.
 */
static bool
leaves(const struct heap_calls_change *c)
{
	return c->p != NULL && c->p != c->old && c->to != c->from;
}

/*
 * End the realloc of a block that was in a heap other than malloc's.
 * heap_calls_change_begin() has removed the block from heap_table.  If the
 * block is in the same heap after the realloc, put the block back into
 * heap_table.
 */
static void
end_pool_change(struct heap_calls_change *c)
{
	const bool freed = leaves(c) || (c->p == NULL && c->frees);
	void *const p = c->p == NULL ? c->old : c->p;
	const size_t size = c->p == NULL ? c->old_size : c->size;
	/*
	 * If the table has no memory for the block, record it in malloc's heap.
	 */
	const bool known = !freed && heap_table_put(c->from, p, size);
	const uint64_t number = heap_table_number(c->from);

	if (c->thread != NULL && known) {
		record_heap_realloc_end(c->thread, 0, c->old, c->p, c->size,
					number);
	} else if (c->thread != NULL) {
		record_heap_realloc_end(c->thread, EVENT_FLAG_FREED, c->old,
					NULL, 0, number);
	} else if (c->is_dormant && known) {
		const uint64_t operand[4] = { (uintptr_t)p, size, number, 0 };

		record_operands(EVENT_HEAP_ALLOC, 0, operand);
	}
	if (leaves(c))
		heap_calls_took(c->to, c->p, c->size, 0, 0);
	else if (!freed && !known)
		record_event(EVENT_ALLOC, 0, (uintptr_t)p, size, 0);
	settle(c->from);
}

/* End the realloc of a block of malloc's heap. */
static void
end_plain_change(const struct heap_calls_change *c)
{
	const bool freed = leaves(c) || (c->p == NULL && c->frees);

	if (c->thread != NULL)
		record_realloc_end(c->thread, freed ? EVENT_FLAG_FREED : 0,
				   c->old, freed ? NULL : c->p,
				   freed ? 0 : c->size);
	if (leaves(c))
		heap_calls_took(c->to, c->p, c->size, 0, 0);
	else if (c->is_dormant && c->p != NULL)
		record_alloc_wide(c->p, c->size, 0);
}

void
heap_calls_change_end(struct heap_calls_change *c)
{
	uint64_t operand[4] = { 0, (uintptr_t)c->p, c->size, 0 };

	if (c->from != NULL) {
		end_pool_change(c);
	} else if (c->old != NULL) {
		end_plain_change(c);
	} else if (c->to != NULL &&
		   (c->p == NULL || heap_table_put(c->to, c->p, c->size))) {
		operand[3] = heap_table_number(c->to);
		record_operands(EVENT_HEAP_REALLOC, 0, operand);
	} else {
		record_operands(EVENT_REALLOC_END, 0, operand);
	}
}

/* C functions ------------------------------------------------------------ */

#define TAKE_C(name, params, args, size, alignment, flags)                   \
	static void *our_##name params                                       \
	{                                                                    \
		void *const p = real.name args;                              \
                                                                             \
		return heap_calls_took(heap_calls_of(p), p, size, alignment, \
				       flags);                               \
	}

TAKE_C(malloc, (size_t size), (size), size, 0, 0)
TAKE_C(calloc, (size_t n, size_t size), (n, size), heap_calls_product(n, size),
       0, EVENT_FLAG_ZEROED)
TAKE_C(memalign, (size_t alignment, size_t size), (alignment, size), size,
       alignment, 0)
TAKE_C(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size,
       alignment, 0)
TAKE_C(valloc, (size_t size), (size), size, (size_t)sysconf(_SC_PAGESIZE), 0)
TAKE_C(pvalloc, (size_t size), (size), size, (size_t)sysconf(_SC_PAGESIZE), 0)

static int
our_posix_memalign(void **p_ret, size_t alignment, size_t size)
{
	const int result = real.posix_memalign(p_ret, alignment, size);
	void *const p = result == 0 ? *p_ret : NULL;

	heap_calls_took(heap_calls_of(p), p, size, alignment, 0);
	return result;
}

static void
our_free(void *p)
{
	if (heap_calls_drop_other(p))
		real.free(p);
	else
		free(p);
}

static void
our_free_sized(void *p, size_t size)
{
	(void)size;
	our_free(p);
}

static void
our_free_aligned_sized(void *p, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	our_free(p);
}

static void *
our_realloc(void *old, size_t size)
{
	struct heap_calls_change c;

	if (real_is_early(old))
		return realloc(old, size);
	c = heap_calls_change_begin(old, size);
	c.p = real.realloc(old, size);
	c.frees = size == 0;
	c.to = heap_calls_of(c.p);
	heap_calls_change_end(&c);
	return c.p;
}

static void *
our_reallocarray(void *old, size_t n, size_t size)
{
	size_t nbytes;

	return __builtin_mul_overflow(n, size, &nbytes)
		       ? reallocarray(old, n, size)
		       : our_realloc(old, nbytes);
}

#define C_PATCH(name)                                                          \
	{                                                                      \
#name, (void *)(uintptr_t)our_##name, (void *)(uintptr_t)name, \
			false                                                  \
	}

static struct patch of_c[] = {
	C_PATCH(malloc),	 C_PATCH(calloc),
	C_PATCH(memalign),	 C_PATCH(aligned_alloc),
	C_PATCH(valloc),	 C_PATCH(pvalloc),
	C_PATCH(posix_memalign), C_PATCH(free),
	C_PATCH(free_sized),	 C_PATCH(free_aligned_sized),
	C_PATCH(realloc),	 C_PATCH(reallocarray),
};

#define C_COUNT (sizeof(of_c) / sizeof(of_c[0]))

bool
heap_calls_has(const char *name)
{
	for (size_t i = 0; i < C_COUNT; i++)
		if (strcmp(of_c[i].name, name) == 0)
			return true;
	return false;
}

void
heap_calls_patch_again(const struct known_objects *known)
{
	/*
	 * relaxed: heap_calls_begin() stores 'of_plain', and then looks for
	 * objects in the loader's list under the loader's lock.  If a new
	 * object is not in the list yet, the thread that loads the object takes
	 * the lock later, and so sees the store.
	 */
	if (atomic_load_explicit(&of_plain, memory_order_relaxed) != NULL)
		patch_new_objects(of_c, C_COUNT, known);
}

void
heap_calls_begin(heap_calls_of_fn *of, const void *companion)
{
	const int saved_errno = errno;
	bool is_malloc;

	/* Is the program's malloc() part of this allocator? */
	if (elf_lookup_function("malloc", companion, &is_malloc) != NULL &&
	    is_malloc) {
		atomic_store_explicit(&of_plain, of, memory_order_relaxed);
		patch_new_objects(of_c, C_COUNT, NULL);
	}
	errno = saved_errno;
}
