/* SPDX-License-Identifier: MIT */
/*
 * interpose.c - the allocation functions of C
 *
 * Each function calls the real function and records an event.
 * hatf/rings/order.h relies on the order of the real call and the event.  Our
 * function records a free before the real call, because after the real call
 * another thread may get the block.  Our function records an allocation after
 * the real call and before its own return, because after the return another
 * thread may free the block.
 * realloc() frees a block and allocates one, so it has a begin event and an end
 * event.  The result, errno, and the alignment and size of the block are those
 * of the real function.
 */

#include <errno.h>
#include <stdlib.h>

#include "preload/record/real.h"
#include "preload/record/record.h"
#include "preload/state/own_slot.h"
#include "preload/sys/export.h"
#include "preload/writer/writer.h"

EXPORT_HOT void *
malloc(size_t size)
{
	void *const p = real.malloc(size);

	if (record_is_dormant())
		return own_slot_is_called() ? writer_answer_bell(p) : p;
	return record_alloc(p, size);
}

static __attribute__((noinline)) void
free_slow(void *p)
{
	record_free_slow(p);
	real.free(p);
}

/*
 * Each call in free() is inlined or a tail call, so free() needs no stack
 * frame.
 */
EXPORT_HOT void
free(void *p)
{
	if (record_is_dormant()) {
		real.free_any(p);
		return;
	}
	if (p == NULL || __builtin_expect(real_is_early(p), 0))
		return;
	if (record_free(p))
		real.free(p);
	else
		free_slow(p);
}

EXPORT_HOT void *
calloc(size_t n, size_t size)
{
	void *const p = real.calloc(n, size);
	size_t nbytes;

	if (record_is_dormant())
		return own_slot_is_called() ? writer_answer_bell(p) : p;
	/*
	 * If the product overflows, the real calloc has failed, so record
	 * SIZE_MAX.
	 */
	if (__builtin_expect(__builtin_mul_overflow(n, size, &nbytes), 0))
		return record_calloc_slow(p, SIZE_MAX);
	return record_calloc(p, nbytes);
}

/*
 * A realloc that began while recording was off.  The trace does not have the
 * old block.  If recording has started during the call, record only the new
 * block.
 */
static __attribute__((noinline)) void *
realloc_dormant(void *old, size_t size)
{
	void *const p = __builtin_expect(real_is_early(old), 0)
				? real_realloc_early(old, size)
				: real.realloc(old, size);

	if (!record_is_dormant() && p != NULL)
		record_alloc_wide(p, size, 0);
	return own_slot_is_called() ? writer_answer_bell(p) : p;
}

/*
 * A realloc whose old block is NULL or lies in the early arena.  Blocks of that
 * arena were allocated before the real functions were known.
 */
static __attribute__((noinline)) void *
realloc_no_old(void *old, size_t size)
{
	void *const p = old == NULL ? real.realloc(NULL, size)
				    : real_realloc_early(old, size);

	record_event(EVENT_REALLOC_END, 0, 0, (uintptr_t)p, size);
	return p;
}

static __attribute__((noinline)) void *
end_realloc(struct thread *t, void *old, void *p, size_t size)
{
	record_realloc_end(t, p == NULL && size == 0 ? EVENT_FLAG_FREED : 0,
			   old, p, size);
	return p;
}

/*
 * Slow path: the ring is closed or has no room, or the events need a stamp, a
 * new tick or additional words.
 */
static __attribute__((noinline)) void *
realloc_slow(void *old, size_t size)
{
	struct thread *const t = record_realloc_begin(old);
	void *const p = real.realloc(old, size);

	return t != NULL ? end_realloc(t, old, p, size) : p;
}

EXPORT_HOT void *
realloc(void *old, size_t size)
{
	struct thread *t;
	uint64_t limit;
	void *p;

	if (record_is_dormant())
		return realloc_dormant(old, size);
	if (old == NULL || __builtin_expect(real_is_early(old), 0))
		return realloc_no_old(old, size);
	t = thread_self;
	if (!record_realloc_old(t, old, &limit))
		return realloc_slow(old, size);
	p = real.realloc(old, size);
	if (!record_realloc_word(t, p, size, limit))
		return end_realloc(t, old, p, size);
	return p;
}

/*
 * libc's reallocarray() would call realloc() by its public name, which is our
 * function.  Call our function directly.  If the product overflows, record the
 * failure.
 */
EXPORT void *
reallocarray(void *old, size_t n, size_t size)
{
	size_t nbytes;

	if (!__builtin_mul_overflow(n, size, &nbytes))
		return realloc(old, nbytes);
	record_event(EVENT_REALLOC_END, 0, (uintptr_t)old, 0, SIZE_MAX);
	errno = ENOMEM;
	return NULL;
}

static void
record_aligned(void *p, size_t size, size_t alignment)
{
	if (record_is_dormant()) {
		if (own_slot_is_called())
			writer_answer_bell(p);
		return;
	}
	record_event(EVENT_ALLOC, 0, (uintptr_t)p, size, alignment);
}

EXPORT void *
memalign(size_t alignment, size_t size)
{
	void *const p = real.memalign(alignment, size);

	record_aligned(p, size, alignment);
	return p;
}

EXPORT int
posix_memalign(void **p_ret, size_t alignment, size_t size)
{
	const int result = real.posix_memalign(p_ret, alignment, size);

	record_aligned(result == 0 ? *p_ret : NULL, size, alignment);
	return result;
}

EXPORT void *
aligned_alloc(size_t alignment, size_t size)
{
	void *const p = real.aligned_alloc(alignment, size);

	record_aligned(p, size, alignment);
	return p;
}

EXPORT void *
valloc(size_t size)
{
	void *const p = real.valloc(size);

	record_aligned(p, size, (size_t)sysconf(_SC_PAGESIZE));
	return p;
}

EXPORT void *
pvalloc(size_t size)
{
	void *const p = real.pvalloc(size);

	record_aligned(p, size, (size_t)sysconf(_SC_PAGESIZE));
	return p;
}

/*
 * free_sized() and free_aligned_sized() are from C23.  The sizes only help the
 * allocator to find the size class of the block, so free() can do the job of
 * both functions.  We do not look up the allocator's own versions, because libc
 * allocates during a look-up that fails.
 */
EXPORT void
free_sized(void *p, size_t size)
{
	(void)size;
	free(p);
}

EXPORT void
free_aligned_sized(void *p, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	free(p);
}
