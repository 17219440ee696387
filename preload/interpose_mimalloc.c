/* SPDX-License-Identifier: MIT */
/*
 * interpose_mimalloc.c - the functions that mimalloc has beyond C's
 *
 * As in interpose.c, event for event.  What is taken from a heap of mi_heap_new()
 * is recorded as of that heap, and so is its free, which does not say the heap:
 * pools.h knows it.  The other heaps (each thread has one, which is its default) are
 * heap 0, malloc's.
 *
 * Blocks outlive mi_heap_delete().  In the trace they stay in their heap, which is
 * destroyed when the last of them has gone.
 *
 * Nothing here is exported, see patch.h.  Where mimalloc is malloc() too, a block of
 * a heap may be freed by free(), and malloc() may take from one: from the first
 * mi_heap_new() on the calls of C's functions come by here as well.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export.h"
#include "hatftrace.h"
#include "lookup.h"
#include "mimalloc.h"
#include "patch.h"
#include "pools.h"
#include "real.h"
#include "record.h"
#include "unwinder.h"

/* The first is the one by which the others are found. */
#define FUNCTIONS(X)                   \
	X(mi_malloc)                   \
	X(mi_heap_malloc)              \
	X(mi_zalloc)                   \
	X(mi_heap_zalloc)              \
	X(mi_calloc)                   \
	X(mi_heap_calloc)              \
	X(mi_mallocn)                  \
	X(mi_heap_mallocn)             \
	X(mi_malloc_small)             \
	X(mi_heap_malloc_small)        \
	X(mi_zalloc_small)             \
	X(mi_malloc_aligned)           \
	X(mi_heap_malloc_aligned)      \
	X(mi_zalloc_aligned)           \
	X(mi_heap_zalloc_aligned)      \
	X(mi_calloc_aligned)           \
	X(mi_heap_calloc_aligned)      \
	X(mi_malloc_aligned_at)        \
	X(mi_heap_malloc_aligned_at)   \
	X(mi_zalloc_aligned_at)        \
	X(mi_heap_zalloc_aligned_at)   \
	X(mi_calloc_aligned_at)        \
	X(mi_heap_calloc_aligned_at)   \
	X(mi_memalign)                 \
	X(mi_aligned_alloc)            \
	X(mi_valloc)                   \
	X(mi_pvalloc)                  \
	X(mi_strdup)                   \
	X(mi_strndup)                  \
	X(mi_heap_strdup)              \
	X(mi_heap_strndup)             \
	X(mi_free)                     \
	X(mi_realloc)                  \
	X(mi_heap_realloc)             \
	X(mi_reallocn)                 \
	X(mi_heap_reallocn)            \
	X(mi_reallocf)                 \
	X(mi_heap_reallocf)            \
	X(mi_rezalloc)                 \
	X(mi_heap_rezalloc)            \
	X(mi_recalloc)                 \
	X(mi_heap_recalloc)            \
	X(mi_realloc_aligned)          \
	X(mi_heap_realloc_aligned)     \
	X(mi_rezalloc_aligned)         \
	X(mi_heap_rezalloc_aligned)    \
	X(mi_recalloc_aligned)         \
	X(mi_heap_recalloc_aligned)    \
	X(mi_realloc_aligned_at)       \
	X(mi_heap_realloc_aligned_at)  \
	X(mi_rezalloc_aligned_at)      \
	X(mi_heap_rezalloc_aligned_at) \
	X(mi_recalloc_aligned_at)      \
	X(mi_heap_recalloc_aligned_at) \
	X(mi_posix_memalign)           \
	X(mi_heap_realpath)            \
	X(mi_realpath)                 \
	X(mi_heap_new)                 \
	X(mi_heap_delete)              \
	X(mi_heap_destroy)             \
	X(mi_heap_set_default)

/* Another version may lack some of the wrappers. */
#define OPTIONAL(X)                   \
	X(mi_new)                     \
	X(mi_new_nothrow)             \
	X(mi_new_aligned)             \
	X(mi_new_aligned_nothrow)     \
	X(mi_new_n)                   \
	X(mi_heap_alloc_new)          \
	X(mi_heap_alloc_new_n)        \
	X(mi_mbsdup)                  \
	X(mi_free_size)               \
	X(mi_free_aligned)            \
	X(mi_free_size_aligned)       \
	X(mi_aligned_recalloc)        \
	X(mi_aligned_offset_recalloc) \
	X(mi_reallocarray)            \
	X(mi_new_realloc)             \
	X(mi_new_reallocn)            \
	X(mi_expand)                  \
	X(mi__expand)                 \
	X(mi_wcsdup)                  \
	X(mi_dupenv_s)                \
	X(mi_cfree)                   \
	X(mi_reallocarr)              \
	X(mi_heap_new_in_arena)

#define NAME_INDEX(name) AT_##name,
enum {
	FUNCTIONS(NAME_INDEX) OPTIONAL(NAME_INDEX) FUNCTION_COUNT
};

static struct patch patches[FUNCTION_COUNT];

/* The real function, by the type of the one that stands in front of it. */
#define REAL(name) \
	((__typeof__(our_##name) *)(uintptr_t)patches[AT_##name].real)

/* There has been a heap, or one that became a default.  Never unset. */
static _Atomic bool has_pools, has_defaults;

/* relaxed, both: who has a block of a heap has synchronised with who made it. */
static bool
is_set(const _Atomic bool *flag)
{
	return __builtin_expect(
		atomic_load_explicit(flag, memory_order_relaxed), 0);
}

/* Of these the real ones are called, but nobody's calls are changed. */
typedef void *get_default_fn(void);
typedef bool is_mimallocs_fn(const void *);

static get_default_fn *get_default;
static is_mimallocs_fn *is_mimallocs;

/* The heap that has this handle; NULL for a thread's own. */
static struct pool *
pool_of(const void *handle)
{
	return is_set(&has_pools) ? pools_find(handle) : NULL;
}

/* Where a function takes from that is not told a heap. */
static struct pool *
default_pool(void)
{
	return is_set(&has_defaults) ? pools_find(get_default()) : NULL;
}

static struct pool *
pool_taken(const void *p, size_t *size_ret)
{
	return is_set(&has_pools) && p != NULL ? pools_take(p, size_ret) : NULL;
}

static void
settle(struct pool *pool)
{
	const uint64_t gone = pools_settle(pool);

	if (gone != 0)
		hatftrace_client_heap_destroy(gone);
}

/* Size of an array; the most is what one asked for that overflows. */
static size_t
product(size_t n, size_t size)
{
	size_t nbytes;

	return __builtin_mul_overflow(n, size, &nbytes) ? SIZE_MAX : nbytes;
}

/* Allocations ------------------------------------------------------------- */

#define PLAIN  0
#define ZEROED EVENT_FLAG_ZEROED

/* 'p' has been taken from 'pool', or from malloc's heap.  Returns 'p'. */
static void *
took(struct pool *pool, void *p, size_t size, size_t alignment, unsigned flags)
{
	if (pool != NULL && (p == NULL || pools_put(pool, p, size))) {
		const uint64_t operand[4] = { (uintptr_t)p, size,
					      pools_number(pool), alignment };

		record_operands(EVENT_POOL_ALLOC, flags, operand);
		return p;
	}
	if (record_is_dormant())
		return p;
	if (alignment == 0)
		return flags == ZEROED ? record_calloc(p, size)
				       : record_alloc(p, size);
	record_event(EVENT_ALLOC, flags, (uintptr_t)p, size, alignment);
	return p;
}

#define TAKE(name, params, args, pool, size, alignment, flags)              \
	static void *our_##name params                                      \
	{                                                                   \
		return took(pool, REAL(name) args, size, alignment, flags); \
	}

/* The function that takes from the default heap, and the one that is told it. */
#define UNPACK(...) __VA_ARGS__
#define TAKE_BOTH(name, params, args, size, alignment, flags)                  \
	TAKE(mi_##name, (UNPACK params), (UNPACK args), default_pool(), size,  \
	     alignment, flags)                                                 \
	TAKE(mi_heap_##name, (void *heap, UNPACK params), (heap, UNPACK args), \
	     pool_of(heap), size, alignment, flags)

TAKE_BOTH(malloc, (size_t size), (size), size, 0, PLAIN)
TAKE_BOTH(zalloc, (size_t size), (size), size, 0, ZEROED)
TAKE_BOTH(calloc, (size_t n, size_t size), (n, size), product(n, size), 0,
	  ZEROED)
TAKE_BOTH(mallocn, (size_t n, size_t size), (n, size), product(n, size), 0,
	  PLAIN)
TAKE_BOTH(malloc_small, (size_t size), (size), size, 0, PLAIN)
TAKE(mi_zalloc_small, (size_t size), (size), default_pool(), size, 0, ZEROED)
TAKE_BOTH(malloc_aligned, (size_t size, size_t alignment), (size, alignment),
	  size, alignment, PLAIN)
TAKE_BOTH(zalloc_aligned, (size_t size, size_t alignment), (size, alignment),
	  size, alignment, ZEROED)
TAKE_BOTH(calloc_aligned, (size_t n, size_t size, size_t alignment),
	  (n, size, alignment), product(n, size), alignment, ZEROED)

/* Not the block is aligned, but what is 'offset' bytes behind its begin. */
TAKE_BOTH(malloc_aligned_at, (size_t size, size_t alignment, size_t offset),
	  (size, alignment, offset), size, 0, PLAIN)
TAKE_BOTH(zalloc_aligned_at, (size_t size, size_t alignment, size_t offset),
	  (size, alignment, offset), size, 0, ZEROED)
TAKE_BOTH(calloc_aligned_at,
	  (size_t n, size_t size, size_t alignment, size_t offset),
	  (n, size, alignment, offset), product(n, size), 0, ZEROED)

TAKE(mi_memalign, (size_t alignment, size_t size), (alignment, size),
     default_pool(), size, alignment, PLAIN)
TAKE(mi_aligned_alloc, (size_t alignment, size_t size), (alignment, size),
     default_pool(), size, alignment, PLAIN)
TAKE(mi_valloc, (size_t size), (size), default_pool(), size,
     (size_t)sysconf(_SC_PAGESIZE), PLAIN)
TAKE(mi_pvalloc, (size_t size), (size), default_pool(), size,
     (size_t)sysconf(_SC_PAGESIZE), PLAIN)

/* An exception may pass through these, and then nothing is recorded. */
TAKE(mi_new, (size_t size), (size), default_pool(), size, 0, PLAIN)
TAKE(mi_new_nothrow, (size_t size), (size), default_pool(), size, 0, PLAIN)
TAKE(mi_new_aligned, (size_t size, size_t alignment), (size, alignment),
     default_pool(), size, alignment, PLAIN)
TAKE(mi_new_aligned_nothrow, (size_t size, size_t alignment), (size, alignment),
     default_pool(), size, alignment, PLAIN)
TAKE(mi_new_n, (size_t n, size_t size), (n, size), default_pool(),
     product(n, size), 0, PLAIN)
TAKE(mi_heap_alloc_new, (void *heap, size_t size), (heap, size), pool_of(heap),
     size, 0, PLAIN)
TAKE(mi_heap_alloc_new_n, (void *heap, size_t n, size_t size), (heap, n, size),
     pool_of(heap), product(n, size), 0, PLAIN)

static int
our_mi_posix_memalign(void **p_ret, size_t alignment, size_t size)
{
	const int result = REAL(mi_posix_memalign)(p_ret, alignment, size);

	took(default_pool(), result == 0 ? *p_ret : NULL, size, alignment, 0);
	return result;
}

/* A string, of which only a copy tells the size. */
static char *
took_string(struct pool *pool, char *p)
{
	if (p != NULL)
		took(pool, p, strlen(p) + 1, 0, PLAIN);
	return p;
}

#define TAKE_STRING(name, params, args)                                   \
	static char *our_mi_##name params                                 \
	{                                                                 \
		return took_string(default_pool(), REAL(mi_##name) args); \
	}

#define HEAP_STRING(name, params, args)                                       \
	static char *our_mi_heap_##name params                                \
	{                                                                     \
		return took_string(pool_of(heap), REAL(mi_heap_##name) args); \
	}

TAKE_STRING(strdup, (const char *s), (s))
TAKE_STRING(strndup, (const char *s, size_t n), (s, n))
TAKE_STRING(mbsdup, (const char *s), (s))
HEAP_STRING(strdup, (void *heap, const char *s), (heap, s))
HEAP_STRING(strndup, (void *heap, const char *s, size_t n), (heap, s, n))

static char *
our_mi_heap_realpath(void *heap, const char *path, char *buf)
{
	char *const p = REAL(mi_heap_realpath)(heap, path, buf);

	return buf == NULL ? took_string(pool_of(heap), p) : p;
}

static char *
our_mi_realpath(const char *path, char *buf)
{
	char *const p = REAL(mi_realpath)(path, buf);

	return buf == NULL ? took_string(default_pool(), p) : p;
}

static unsigned short *
our_mi_wcsdup(const unsigned short *s)
{
	unsigned short *const p = REAL(mi_wcsdup)(s);
	size_t n = 0;

	while (p != NULL && p[n] != 0)
		n++;
	if (p != NULL)
		took(default_pool(), p, (n + 1) * sizeof(*p), 0, PLAIN);
	return p;
}

static int
our_mi_dupenv_s(char **p_ret, size_t *size_ret, const char *name)
{
	const int result = REAL(mi_dupenv_s)(p_ret, size_ret, name);

	if (result == 0)
		took_string(default_pool(), *p_ret);
	return result;
}

/* Frees ------------------------------------------------------------------- */

/* 'p' will be freed.  False: it is malloc's. */
static bool
drop_of_pool(const void *p)
{
	size_t size;
	struct pool *const pool = pool_taken(p, &size);

	if (pool == NULL)
		return false;
	record_event(EVENT_POOL_FREE, 0, (uintptr_t)p, pools_number(pool), 0);
	settle(pool);
	return true;
}

static void
drop(const void *p)
{
	if (p != NULL && !drop_of_pool(p) && !record_is_dormant() &&
	    !record_free(p))
		record_free_rest(p);
}

#define DROP(name, params, args)      \
	static void our_##name params \
	{                             \
		drop(p);              \
		REAL(name) args;      \
	}

DROP(mi_free, (void *p), (p))
DROP(mi_free_size, (void *p, size_t size), (p, size))
DROP(mi_free_aligned, (void *p, size_t alignment), (p, alignment))
DROP(mi_free_size_aligned, (void *p, size_t size, size_t alignment),
     (p, size, alignment))

/* Frees what is mimalloc's and leaves alone what is not. */
static void
our_mi_cfree(void *p)
{
	if (is_mimallocs(p))
		drop(p);
	REAL(mi_cfree)(p);
}

/* Reallocs ---------------------------------------------------------------- */

/*
 * One under way.  It may go from one heap to another, which HATF's realloc cannot
 * say: that is a free and an alloc.  A block that a heap gives up to another is
 * freed before the real call, since afterwards it may be anybody's; if it was not
 * given up, it is taken once more.  One that malloc's heap gives up is a realloc
 * that frees.
 *
 * From a heap into itself it is one event, after the call: only the thread that made
 * the heap takes from it, so nobody else can have been given the block.
 */
struct change {
	struct pool *from, *to;
	struct thread *thread;
	void *old, *p;
	size_t old_size, size;
	bool is_dormant;
	bool frees; /* where it fails */
};

static struct change
begin_change_from(struct pool *from, size_t old_size, void *old, size_t size,
		  struct pool *to)
{
	struct change c = { .from = from, .to = to, .old = old, .size = size };

	c.old_size = old_size;
	c.is_dormant = record_is_dormant();
	if (c.from != NULL && c.from != to)
		record_event(EVENT_POOL_FREE, 0, (uintptr_t)old,
			     pools_number(c.from), 0);
	else if (c.from == NULL && old != NULL && !c.is_dormant)
		c.thread = record_realloc_begin(old);
	return c;
}

static struct change
begin_change(void *old, size_t size, struct pool *to)
{
	size_t old_size = 0;
	struct pool *const from = pool_taken(old, &old_size);

	return begin_change_from(from, old_size, old, size, to);
}

/* The block of a heap, which has been taken from it. */
static void
end_pool_change(struct change *c)
{
	const bool frees = c->p == NULL && c->frees;
	const bool stays = c->p == NULL || c->p == c->old;
	void *const p = c->p == NULL ? c->old : c->p;
	const size_t size = c->p == NULL ? c->old_size : c->size;
	struct pool *const pool = stays ? c->from : c->to;

	if (c->from != c->to) {
		if (!frees)
			took(pool, p, size, 0, PLAIN);
	} else if (frees || pools_put(c->from, p, size)) {
		const uint64_t operand[4] = { (uintptr_t)c->old,
					      frees ? 0 : (uintptr_t)c->p,
					      frees ? 0 : c->size,
					      pools_number(c->from) };

		record_operands(EVENT_POOL_REALLOC,
				frees ? EVENT_FLAG_FREED : 0, operand);
	} else {
		record_event(EVENT_POOL_FREE, 0, (uintptr_t)c->old,
			     pools_number(c->from), 0);
		record_event(EVENT_ALLOC, 0, (uintptr_t)p, size, 0);
	}
	settle(c->from);
}

/* The block of malloc's heap. */
static void
end_plain_change(const struct change *c)
{
	const bool moves = c->p != NULL && c->p != c->old && c->to != NULL;
	const bool frees = moves || (c->p == NULL && c->frees);

	if (c->thread != NULL)
		record_realloc_end(c->thread, frees ? EVENT_FLAG_FREED : 0,
				   c->old, frees ? NULL : c->p,
				   frees ? 0 : c->size);
	if (moves)
		took(c->to, c->p, c->size, 0, PLAIN);
	else if (c->is_dormant && c->p != NULL)
		record_alloc_wide(c->p, c->size, 0);
}

/* Also when an exception ends the real call: then it has failed. */
static void
end_change(struct change *c)
{
	uint64_t operand[4] = { 0, (uintptr_t)c->p, c->size, 0 };

	if (c->from != NULL) {
		end_pool_change(c);
	} else if (c->old != NULL) {
		end_plain_change(c);
	} else if (c->to != NULL &&
		   (c->p == NULL || pools_put(c->to, c->p, c->size))) {
		operand[3] = pools_number(c->to);
		record_operands(EVENT_POOL_REALLOC, 0, operand);
	} else {
		record_operands(EVENT_REALLOC_END, 0, operand);
	}
}

#define CHANGE(name, params, args, pool, size, frees_)                 \
	static void *our_##name params                                 \
	{                                                              \
		struct change c __attribute__((cleanup(end_change))) = \
			begin_change(old, size, pool);                 \
		c.frees = (frees_);                                    \
		c.p = REAL(name) args;                                 \
		return c.p;                                            \
	}

#define CHANGE_BOTH(name, params, args, size, frees)                      \
	CHANGE(mi_##name, (UNPACK params), (UNPACK args), default_pool(), \
	       size, frees)                                               \
	CHANGE(mi_heap_##name, (void *heap, UNPACK params),               \
	       (heap, UNPACK args), pool_of(heap), size, frees)

CHANGE_BOTH(realloc, (void *old, size_t size), (old, size), size, false)
CHANGE_BOTH(reallocn, (void *old, size_t n, size_t size), (old, n, size),
	    product(n, size), false)
CHANGE_BOTH(reallocf, (void *old, size_t size), (old, size), size, true)
CHANGE_BOTH(rezalloc, (void *old, size_t size), (old, size), size, false)
CHANGE_BOTH(recalloc, (void *old, size_t n, size_t size), (old, n, size),
	    product(n, size), false)
CHANGE_BOTH(realloc_aligned, (void *old, size_t size, size_t alignment),
	    (old, size, alignment), size, false)
CHANGE_BOTH(rezalloc_aligned, (void *old, size_t size, size_t alignment),
	    (old, size, alignment), size, false)
CHANGE_BOTH(recalloc_aligned,
	    (void *old, size_t n, size_t size, size_t alignment),
	    (old, n, size, alignment), product(n, size), false)
CHANGE_BOTH(realloc_aligned_at,
	    (void *old, size_t size, size_t alignment, size_t offset),
	    (old, size, alignment, offset), size, false)
CHANGE_BOTH(rezalloc_aligned_at,
	    (void *old, size_t size, size_t alignment, size_t offset),
	    (old, size, alignment, offset), size, false)
CHANGE_BOTH(recalloc_aligned_at,
	    (void *old, size_t n, size_t size, size_t alignment, size_t offset),
	    (old, n, size, alignment, offset), product(n, size), false)
CHANGE(mi_aligned_recalloc,
       (void *old, size_t n, size_t size, size_t alignment),
       (old, n, size, alignment), default_pool(), product(n, size), false)
CHANGE(mi_aligned_offset_recalloc,
       (void *old, size_t n, size_t size, size_t alignment, size_t offset),
       (old, n, size, alignment, offset), default_pool(), product(n, size),
       false)
CHANGE(mi_reallocarray, (void *old, size_t n, size_t size), (old, n, size),
       default_pool(), product(n, size), false)
CHANGE(mi_new_realloc, (void *old, size_t size), (old, size), default_pool(),
       size, false)
CHANGE(mi_new_reallocn, (void *old, size_t n, size_t size), (old, n, size),
       default_pool(), product(n, size), false)
CHANGE(mi_expand, (void *old, size_t size), (old, size), default_pool(), size,
       false)
CHANGE(mi__expand, (void *old, size_t size), (old, size), default_pool(), size,
       false)

static int
our_mi_reallocarr(void *p_at, size_t n, size_t size)
{
	void **const at = p_at;
	struct change c __attribute__((cleanup(end_change))) = begin_change(
		at != NULL ? *at : NULL, product(n, size), default_pool());
	const int result = REAL(mi_reallocarr)(p_at, n, size);

	c.p = result == 0 ? *at : NULL;
	return result;
}

/* C's, when there are heaps ------------------------------------------------ */

#define TAKE_C(name, params, args, size, alignment, flags)                 \
	static void *our_##name params                                     \
	{                                                                  \
		struct pool *const pool = default_pool();                  \
                                                                           \
		if (pool == NULL)                                          \
			return name args;                                  \
		return took(pool, real.name args, size, alignment, flags); \
	}

TAKE_C(malloc, (size_t size), (size), size, 0, PLAIN)
TAKE_C(calloc, (size_t n, size_t size), (n, size), product(n, size), 0, ZEROED)
TAKE_C(memalign, (size_t alignment, size_t size), (alignment, size), size,
       alignment, PLAIN)
TAKE_C(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size,
       alignment, PLAIN)
TAKE_C(valloc, (size_t size), (size), size, (size_t)sysconf(_SC_PAGESIZE),
       PLAIN)
TAKE_C(pvalloc, (size_t size), (size), size, (size_t)sysconf(_SC_PAGESIZE),
       PLAIN)

static int
our_posix_memalign(void **p_ret, size_t alignment, size_t size)
{
	struct pool *const pool = default_pool();
	int result;

	if (pool == NULL)
		return posix_memalign(p_ret, alignment, size);
	result = real.posix_memalign(p_ret, alignment, size);
	took(pool, result == 0 ? *p_ret : NULL, size, alignment, PLAIN);
	return result;
}

static void
our_free(void *p)
{
	if (drop_of_pool(p))
		real.free(p);
	else
		free(p);
}

static void *
our_realloc(void *old, size_t size)
{
	struct pool *const to = default_pool();
	size_t old_size = 0;
	struct pool *const from = pool_taken(old, &old_size);

	if ((from == NULL && to == NULL) || real_is_early(old))
		return realloc(old, size);

	struct change c __attribute__((cleanup(end_change))) =
		begin_change_from(from, old_size, old, size, to);

	c.p = real.realloc(old, size);
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

static void
patch_c(void)
{
	static struct patch of_c[] = {
		C_PATCH(malloc),	 C_PATCH(calloc), C_PATCH(memalign),
		C_PATCH(aligned_alloc),	 C_PATCH(valloc), C_PATCH(pvalloc),
		C_PATCH(posix_memalign), C_PATCH(free),	  C_PATCH(realloc),
		C_PATCH(reallocarray),
	};
	bool is_malloc;

	/* Is mimalloc what they call? */
	if (lookup_function("malloc", patches[0].real, &is_malloc) != NULL &&
	    is_malloc)
		patch_known(of_c, sizeof(of_c) / sizeof(of_c[0]));
}

/* Heaps -------------------------------------------------------------------- */

static void
begin_pools(void)
{
	const int saved_errno = errno;

	patch_c();
	pthread_atfork(pools_hold, pools_release, pools_release);
	/* relaxed: see is_set(). */
	atomic_store_explicit(&has_pools, true, memory_order_relaxed);
	errno = saved_errno;
}

/* Its blocks stay its own.  Where none are left it is gone. */
static void
delete_pool(const void *handle)
{
	const uint64_t gone = pools_delete(handle);

	if (gone != 0)
		hatftrace_client_heap_destroy(gone);
}

static void *
new_pool(void *handle)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t number;

	if (handle == NULL)
		return NULL;
	pthread_once(&once, begin_pools);
	/* A thread's heaps end with it, and nobody says so. */
	delete_pool(handle);
	number = hatftrace_client_heap_create("mi_heap");
	if (pools_add(handle, number) == NULL)
		hatftrace_client_heap_destroy(number);
	return handle;
}

static void *
our_mi_heap_new(void)
{
	return new_pool(REAL(mi_heap_new)());
}

static void *
our_mi_heap_new_in_arena(int arena)
{
	return new_pool(REAL(mi_heap_new_in_arena)(arena));
}

static void
our_mi_heap_delete(void *heap)
{
	delete_pool(heap);
	REAL(mi_heap_delete)(heap);
}

static void
our_mi_heap_destroy(void *heap)
{
	const uint64_t gone = pools_destroy(heap);

	if (gone != 0)
		hatftrace_client_heap_destroy(gone);
	REAL(mi_heap_destroy)(heap);
}

static void *
our_mi_heap_set_default(void *heap)
{
	/* relaxed: only for this thread is it a default. */
	if (pool_of(heap) != NULL)
		atomic_store_explicit(&has_defaults, true,
				      memory_order_relaxed);
	return REAL(mi_heap_set_default)(heap);
}

#define DEFINE_PATCH(name) \
	[AT_##name] = { #name, (void *)(uintptr_t)our_##name, NULL, false },
#define DEFINE_OPTIONAL(name) \
	[AT_##name] = { #name, (void *)(uintptr_t)our_##name, NULL, true },
static struct patch patches[FUNCTION_COUNT] = { FUNCTIONS(
	DEFINE_PATCH) OPTIONAL(DEFINE_OPTIONAL) };

void
mimalloc_patch(void)
{
	static const char *const markers[] = { "mi_heap_get_default",
					       "mi_is_in_heap_region", NULL };

	bool together;

	get_default = (get_default_fn *)(uintptr_t)lookup_function(
		markers[0], NULL, &together);
	is_mimallocs = (is_mimallocs_fn *)(uintptr_t)lookup_function(
		markers[1], NULL, &together);
	patch_calls(patches, FUNCTION_COUNT, markers);
}
