/* SPDX-License-Identifier: MIT */
/*
 * interpose_cxx.c - operator new and delete
 *
 * The operators of a C++ library call malloc() and free(), which record the
 * events, so such an operator must not be recorded here.  Allocators such as
 * tcmalloc and jemalloc have "direct" operators, which do not call malloc() and
 * free().  Direct operators are recorded here.  The first call of an operator
 * finds out whether it is direct, which depends on the library that defines it.
 *
 * Direct operators may in turn call other operators, or malloc(), by their
 * public names, which are ours.  Of nested calls, the innermost new and the
 * outermost delete are recorded.
 *
 * C++ exceptions may pass through: operator new throws if it fails, and the
 * failure is recorded as an event.
 */

#include <stdint.h>

#include "preload/heaps/heap_calls.h"
#include "preload/record/real.h"
#include "preload/record/record.h"
#include "preload/state/own_slot.h"
#include "preload/sys/export.h"
#include "preload/sys/unwinder.h"
#include "preload/writer/writer.h"

/*
 * Each function that is defined below has the mangled name of an operator
 * (Itanium C++ ABI, 5.1.5; 'm' is size_t on 64-bit systems), and a slot.
 * 'real' is the next definition of the operator after ours, or NULL before the
 * first call.  'direct' means that the next definition does not call malloc()
 * and free().
 */
struct operator_slot {
	_Atomic(void *) real;
	bool direct; /* constant once 'real' is set */
};

static void *
get_operator(struct operator_slot *slot, const char *symbol)
{
	/* acquire: pairs with the release below, so that 'direct' is valid. */
	void *p = atomic_load_explicit(&slot->real, memory_order_acquire);

	if (__builtin_expect(p == NULL, 0)) {
		p = real_find_operator(symbol, &slot->direct);
		atomic_store_explicit(&slot->real, p, memory_order_release);
	}
	return p;
}

/*
 * A call of operator new that is running.  If the operator throws, 'p' is still
 * NULL when the call is recorded.
 */
struct pending {
	void *p;
	size_t size, alignment;
	struct record_mark mark; /* record_mark() before the call */
};

/*
 * If the block lies in malloc's heap, return false.  Otherwise record the
 * block, unless a nested call has recorded it already, and return true.
 */
static bool
record_in_pool(const struct pending *pending)
{
	struct pool *const pool = heap_calls_of(pending->p);

	if (pool == NULL)
		return false;
	if (pending->p == NULL || !heap_table_knows(pending->p))
		heap_calls_took(pool, pending->p, pending->size,
				pending->alignment, 0);
	return true;
}

static void
record_new(const struct pending *pending)
{
	if (heap_table_is_used() && record_in_pool(pending))
		return;
	if (record_is_dormant()) {
		if (own_slot_is_called())
			writer_answer_bell(pending->p);
		return;
	}
	if (record_has_alloc_since(pending->mark, pending->p, pending->size))
		return;
	if (pending->alignment == 0)
		record_alloc(pending->p, pending->size);
	else
		record_event(EVENT_ALLOC, 0, (uintptr_t)pending->p,
			     pending->size, pending->alignment);
}

/* State of a thread before a delete; end_delete() restores this state. */
struct deletion {
	const void *outer;
	uint64_t limit;
};

/*
 * Record the free of 'p'.  Then keep the ring closed until end_delete().  If
 * the allocator calls free(), that call therefore takes the slow path, which
 * ignores the free of the block that is being deleted.
 */
static struct deletion
begin_delete(const void *p)
{
	struct thread *t = thread_self;
	struct deletion before = { t->deleting, t->limit };

	if (p == NULL || p == before.outer)
		return before;

	const bool in_pool = heap_calls_drop_other(p);

	if (record_is_dormant())
		return before;
	if (!in_pool && !record_free(p))
		record_free_slow(p);
	/*
	 * read 'thread_self' again, since record_free_slow() may have attached
	 * the thread
	 */
	t = thread_self;
	before.limit = t->limit;
	if (thread_is_attached(t)) {
		t->deleting = p;
		t->limit = 0;
	}
	return before;
}

static void
end_delete(struct deletion before)
{
	if (thread_is_attached(thread_self)) {
		thread_self->deleting = before.outer;
		thread_self->limit = before.limit;
	}
}

/*
 * Call the real operator with the arguments 'args'.  If the operator is direct,
 * record the call when the scope ends, by a return or by an exception.
 */
#define CALL_NEW(type, symbol, size_, alignment_, args)                    \
	static struct operator_slot slot;                                  \
	type *const call = (type *)(uintptr_t)get_operator(&slot, symbol); \
	if (!slot.direct)                                                  \
		return call args;                                          \
	struct pending pending __attribute__((cleanup(record_new))) = {    \
		NULL, (size_), (alignment_), record_mark()                 \
	};                                                                 \
	pending.p = call args;                                             \
	return pending.p

#define CALL_DELETE(type, symbol, p, args)                                 \
	static struct operator_slot slot;                                  \
	type *const call = (type *)(uintptr_t)get_operator(&slot, symbol); \
	if (!slot.direct) {                                                \
		call args;                                                 \
		return;                                                    \
	}                                                                  \
	const struct deletion before = begin_delete(p);                    \
	call args;                                                         \
	end_delete(before)

typedef void *new_fn(size_t);
typedef void *new_tag_fn(size_t, const void *);
typedef void *new_aligned_fn(size_t, size_t);
typedef void *new_aligned_tag_fn(size_t, size_t, const void *);
typedef void delete_fn(void *);
typedef void delete_sized_fn(void *, size_t);
typedef void delete_tag_fn(void *, const void *);
typedef void delete_sized_aligned_fn(void *, size_t, size_t);
typedef void delete_aligned_tag_fn(void *, size_t, const void *);

#define DEFINE_NEW(symbol)                                  \
	EXPORT new_fn symbol;                               \
	EXPORT void *symbol(size_t size)                    \
	{                                                   \
		CALL_NEW(new_fn, #symbol, size, 0, (size)); \
	}

#define DEFINE_NEW_NOTHROW(symbol)                                   \
	EXPORT new_tag_fn symbol;                                    \
	EXPORT void *symbol(size_t size, const void *tag)            \
	{                                                            \
		CALL_NEW(new_tag_fn, #symbol, size, 0, (size, tag)); \
	}

#define DEFINE_NEW_ALIGNED(symbol)                                 \
	EXPORT new_aligned_fn symbol;                              \
	EXPORT void *symbol(size_t size, size_t alignment)         \
	{                                                          \
		CALL_NEW(new_aligned_fn, #symbol, size, alignment, \
			 (size, alignment));                       \
	}

#define DEFINE_NEW_ALIGNED_NOTHROW(symbol)                                  \
	EXPORT new_aligned_tag_fn symbol;                                   \
	EXPORT void *symbol(size_t size, size_t alignment, const void *tag) \
	{                                                                   \
		CALL_NEW(new_aligned_tag_fn, #symbol, size, alignment,      \
			 (size, alignment, tag));                           \
	}

#define DEFINE_DELETE(symbol)                            \
	EXPORT delete_fn symbol;                         \
	EXPORT void symbol(void *p)                      \
	{                                                \
		CALL_DELETE(delete_fn, #symbol, p, (p)); \
	}

/* For sized delete, and for aligned delete, where 'size' is the alignment. */
#define DEFINE_DELETE_SIZED(symbol)                                  \
	EXPORT delete_sized_fn symbol;                               \
	EXPORT void symbol(void *p, size_t size)                     \
	{                                                            \
		CALL_DELETE(delete_sized_fn, #symbol, p, (p, size)); \
	}

#define DEFINE_DELETE_NOTHROW(symbol)                             \
	EXPORT delete_tag_fn symbol;                              \
	EXPORT void symbol(void *p, const void *tag)              \
	{                                                         \
		CALL_DELETE(delete_tag_fn, #symbol, p, (p, tag)); \
	}

#define DEFINE_DELETE_SIZED_ALIGNED(symbol)                        \
	EXPORT delete_sized_aligned_fn symbol;                     \
	EXPORT void symbol(void *p, size_t size, size_t alignment) \
	{                                                          \
		CALL_DELETE(delete_sized_aligned_fn, #symbol, p,   \
			    (p, size, alignment));                 \
	}

#define DEFINE_DELETE_ALIGNED_NOTHROW(symbol)                          \
	EXPORT delete_aligned_tag_fn symbol;                           \
	EXPORT void symbol(void *p, size_t alignment, const void *tag) \
	{                                                              \
		CALL_DELETE(delete_aligned_tag_fn, #symbol, p,         \
			    (p, alignment, tag));                      \
	}

DEFINE_NEW(_Znwm)
DEFINE_NEW(_Znam)
DEFINE_NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
DEFINE_NEW_NOTHROW(_ZnamRKSt9nothrow_t)
DEFINE_NEW_ALIGNED(_ZnwmSt11align_val_t)
DEFINE_NEW_ALIGNED(_ZnamSt11align_val_t)
DEFINE_NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
DEFINE_NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)

DEFINE_DELETE(_ZdlPv)
DEFINE_DELETE(_ZdaPv)
DEFINE_DELETE_SIZED(_ZdlPvm)
DEFINE_DELETE_SIZED(_ZdaPvm)
DEFINE_DELETE_NOTHROW(_ZdlPvRKSt9nothrow_t)
DEFINE_DELETE_NOTHROW(_ZdaPvRKSt9nothrow_t)
DEFINE_DELETE_SIZED(_ZdlPvSt11align_val_t)
DEFINE_DELETE_SIZED(_ZdaPvSt11align_val_t)
DEFINE_DELETE_SIZED_ALIGNED(_ZdlPvmSt11align_val_t)
DEFINE_DELETE_SIZED_ALIGNED(_ZdaPvmSt11align_val_t)
DEFINE_DELETE_ALIGNED_NOTHROW(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DEFINE_DELETE_ALIGNED_NOTHROW(_ZdaPvSt11align_val_tRKSt9nothrow_t)
