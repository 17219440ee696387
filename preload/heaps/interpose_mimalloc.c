/* SPDX-License-Identifier: MIT */
/*
 * interpose_mimalloc.c - mimalloc's functions besides the functions of C
 *
 * Each function records the same events as its counterpart in interpose.c.  A
 * block from a heap of mi_heap_new() is recorded in that heap.  The free of
 * such a block does not name the heap, so we look the heap up in heap_table.h.
 * The other heaps of mimalloc, one for each thread, are recorded as heap 0, the
 * heap of malloc().
 *
 * Blocks outlive mi_heap_delete().  In the trace they stay in their heap, which
 * is destroyed when its last block is freed.
 *
 * Nothing here is exported; see patch_calls.h.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "preload/hatftrace.h"
#include "preload/heaps/heap_calls.h"
#include "preload/heaps/mimalloc.h"
#include "preload/heaps/patch_calls.h"
#include "preload/record/record.h"
#include "preload/sys/elf_lookup.h"
#include "preload/sys/unwinder.h"

/*
 * The first function identifies the object that contains mimalloc; the others
 * must be in the same object.
 */
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

/* Functions that only some versions of mimalloc define. */
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

/* The real function, with the type of the function that replaces it. */
#define REAL(name) \
	((__typeof__(our_##name) *)(uintptr_t)patches[AT_##name].real)

/* Functions that we call but do not intercept. */
typedef void *get_default_fn(void);
typedef bool is_mimallocs_fn(const void *);

static get_default_fn *get_default;
static is_mimallocs_fn *is_mimallocs;

/* Has a thread made a heap its default?  Once true, this stays true. */
static _Atomic bool has_defaults;

/* Return the heap with this handle; NULL for a thread's own heap. */
static struct pool *
pool_of(const void *handle)
{
	return heap_table_is_used() ? heap_table_find(handle) : NULL;
}

/* Return the heap of 'p', the result of a function without a heap argument. */
static struct pool *
default_pool(const void *p)
{
	(void)p;
	/* relaxed: only the thread that has set a default heap uses it. */
	return __builtin_expect(atomic_load_explicit(&has_defaults,
						     memory_order_relaxed),
				0)
		       ? heap_table_find(get_default())
		       : NULL;
}

/* Allocations ------------------------------------------------------------- */

#define PLAIN  0
#define ZEROED EVENT_FLAG_ZEROED

#define TAKE(name, params, args, pool, size, alignment, flags)           \
	static void *our_##name params                                   \
	{                                                                \
		void *const p = REAL(name) args;                         \
                                                                         \
		return heap_calls_took(pool, p, size, alignment, flags); \
	}

/*
 * Define two functions: one that allocates from the default heap, and one that
 * allocates from the heap 'heap'.
 */
#define UNPACK(...) __VA_ARGS__
#define TAKE_BOTH(name, params, args, size, alignment, flags)                  \
	TAKE(mi_##name, (UNPACK params), (UNPACK args), default_pool(p), size, \
	     alignment, flags)                                                 \
	TAKE(mi_heap_##name, (void *heap, UNPACK params), (heap, UNPACK args), \
	     pool_of(heap), size, alignment, flags)

TAKE_BOTH(malloc, (size_t size), (size), size, 0, PLAIN)
TAKE_BOTH(zalloc, (size_t size), (size), size, 0, ZEROED)
TAKE_BOTH(calloc, (size_t n, size_t size), (n, size),
	  heap_calls_product(n, size), 0, ZEROED)
TAKE_BOTH(mallocn, (size_t n, size_t size), (n, size),
	  heap_calls_product(n, size), 0, PLAIN)
TAKE_BOTH(malloc_small, (size_t size), (size), size, 0, PLAIN)
TAKE(mi_zalloc_small, (size_t size), (size), default_pool(p), size, 0, ZEROED)
TAKE_BOTH(malloc_aligned, (size_t size, size_t alignment), (size, alignment),
	  size, alignment, PLAIN)
TAKE_BOTH(zalloc_aligned, (size_t size, size_t alignment), (size, alignment),
	  size, alignment, ZEROED)
TAKE_BOTH(calloc_aligned, (size_t n, size_t size, size_t alignment),
	  (n, size, alignment), heap_calls_product(n, size), alignment, ZEROED)

/*
 * These functions align the address 'offset' bytes after the block's start, so
 * record no alignment of the block itself.
 */
TAKE_BOTH(malloc_aligned_at, (size_t size, size_t alignment, size_t offset),
	  (size, alignment, offset), size, 0, PLAIN)
TAKE_BOTH(zalloc_aligned_at, (size_t size, size_t alignment, size_t offset),
	  (size, alignment, offset), size, 0, ZEROED)
TAKE_BOTH(calloc_aligned_at,
	  (size_t n, size_t size, size_t alignment, size_t offset),
	  (n, size, alignment, offset), heap_calls_product(n, size), 0, ZEROED)

TAKE(mi_memalign, (size_t alignment, size_t size), (alignment, size),
     default_pool(p), size, alignment, PLAIN)
TAKE(mi_aligned_alloc, (size_t alignment, size_t size), (alignment, size),
     default_pool(p), size, alignment, PLAIN)
TAKE(mi_valloc, (size_t size), (size), default_pool(p), size,
     (size_t)sysconf(_SC_PAGESIZE), PLAIN)
TAKE(mi_pvalloc, (size_t size), (size), default_pool(p), size,
     (size_t)sysconf(_SC_PAGESIZE), PLAIN)

/* If one of these functions throws an exception, nothing is recorded. */
TAKE(mi_new, (size_t size), (size), default_pool(p), size, 0, PLAIN)
TAKE(mi_new_nothrow, (size_t size), (size), default_pool(p), size, 0, PLAIN)
TAKE(mi_new_aligned, (size_t size, size_t alignment), (size, alignment),
     default_pool(p), size, alignment, PLAIN)
TAKE(mi_new_aligned_nothrow, (size_t size, size_t alignment), (size, alignment),
     default_pool(p), size, alignment, PLAIN)
TAKE(mi_new_n, (size_t n, size_t size), (n, size), default_pool(p),
     heap_calls_product(n, size), 0, PLAIN)
TAKE(mi_heap_alloc_new, (void *heap, size_t size), (heap, size), pool_of(heap),
     size, 0, PLAIN)
TAKE(mi_heap_alloc_new_n, (void *heap, size_t n, size_t size), (heap, n, size),
     pool_of(heap), heap_calls_product(n, size), 0, PLAIN)

static int
our_mi_posix_memalign(void **p_ret, size_t alignment, size_t size)
{
	const int result = REAL(mi_posix_memalign)(p_ret, alignment, size);
	void *const p = result == 0 ? *p_ret : NULL;

	heap_calls_took(default_pool(p), p, size, alignment, 0);
	return result;
}

/*
 * Record a copied string; the size is the length of the copy, with its zero
 * byte.
 */
static char *
took_string(struct pool *pool, char *p)
{
	if (p != NULL)
		heap_calls_took(pool, p, strlen(p) + 1, 0, PLAIN);
	return p;
}

#define TAKE_STRING(name, params, args)                 \
	static char *our_mi_##name params               \
	{                                               \
		char *const p = REAL(mi_##name) args;   \
                                                        \
		return took_string(default_pool(p), p); \
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

	return buf == NULL ? took_string(default_pool(p), p) : p;
}

static unsigned short *
our_mi_wcsdup(const unsigned short *s)
{
	unsigned short *const p = REAL(mi_wcsdup)(s);
	size_t n = 0;

	while (p != NULL && p[n] != 0)
		n++;
	if (p != NULL)
		heap_calls_took(default_pool(p), p, (n + 1) * sizeof(*p), 0,
				PLAIN);
	return p;
}

static int
our_mi_dupenv_s(char **p_ret, size_t *size_ret, const char *name)
{
	const int result = REAL(mi_dupenv_s)(p_ret, size_ret, name);

	if (result == 0)
		took_string(default_pool(*p_ret), *p_ret);
	return result;
}

/* Frees ------------------------------------------------------------------- */

#define DROP(name, params, args)      \
	static void our_##name params \
	{                             \
		heap_calls_drop(p);   \
		REAL(name) args;      \
	}

DROP(mi_free, (void *p), (p))
DROP(mi_free_size, (void *p, size_t size), (p, size))
DROP(mi_free_aligned, (void *p, size_t alignment), (p, alignment))
DROP(mi_free_size_aligned, (void *p, size_t size, size_t alignment),
     (p, size, alignment))

/* mi_cfree() frees a block of mimalloc and ignores any other. */
static void
our_mi_cfree(void *p)
{
	if (is_mimallocs(p))
		heap_calls_drop(p);
	REAL(mi_cfree)(p);
}

/* Reallocs ---------------------------------------------------------------- */

#define CHANGE(name, params, args, pool, size, frees_)                    \
	static void *our_##name params                                    \
	{                                                                 \
		struct heap_calls_change c                                \
			__attribute__((cleanup(heap_calls_change_end))) = \
				heap_calls_change_begin(old, size);       \
		void *p;                                                  \
                                                                          \
		c.frees = (frees_);                                       \
		c.p = p = REAL(name) args;                                \
		c.to = (pool);                                            \
		return p;                                                 \
	}

#define CHANGE_BOTH(name, params, args, size, frees)                       \
	CHANGE(mi_##name, (UNPACK params), (UNPACK args), default_pool(p), \
	       size, frees)                                                \
	CHANGE(mi_heap_##name, (void *heap, UNPACK params),                \
	       (heap, UNPACK args), pool_of(heap), size, frees)

CHANGE_BOTH(realloc, (void *old, size_t size), (old, size), size, false)
CHANGE_BOTH(reallocn, (void *old, size_t n, size_t size), (old, n, size),
	    heap_calls_product(n, size), false)
CHANGE_BOTH(reallocf, (void *old, size_t size), (old, size), size, true)
CHANGE_BOTH(rezalloc, (void *old, size_t size), (old, size), size, false)
CHANGE_BOTH(recalloc, (void *old, size_t n, size_t size), (old, n, size),
	    heap_calls_product(n, size), false)
CHANGE_BOTH(realloc_aligned, (void *old, size_t size, size_t alignment),
	    (old, size, alignment), size, false)
CHANGE_BOTH(rezalloc_aligned, (void *old, size_t size, size_t alignment),
	    (old, size, alignment), size, false)
CHANGE_BOTH(recalloc_aligned,
	    (void *old, size_t n, size_t size, size_t alignment),
	    (old, n, size, alignment), heap_calls_product(n, size), false)
CHANGE_BOTH(realloc_aligned_at,
	    (void *old, size_t size, size_t alignment, size_t offset),
	    (old, size, alignment, offset), size, false)
CHANGE_BOTH(rezalloc_aligned_at,
	    (void *old, size_t size, size_t alignment, size_t offset),
	    (old, size, alignment, offset), size, false)
CHANGE_BOTH(recalloc_aligned_at,
	    (void *old, size_t n, size_t size, size_t alignment, size_t offset),
	    (old, n, size, alignment, offset), heap_calls_product(n, size),
	    false)
CHANGE(mi_aligned_recalloc,
       (void *old, size_t n, size_t size, size_t alignment),
       (old, n, size, alignment), default_pool(p), heap_calls_product(n, size),
       false)
CHANGE(mi_aligned_offset_recalloc,
       (void *old, size_t n, size_t size, size_t alignment, size_t offset),
       (old, n, size, alignment, offset), default_pool(p),
       heap_calls_product(n, size), false)
CHANGE(mi_reallocarray, (void *old, size_t n, size_t size), (old, n, size),
       default_pool(p), heap_calls_product(n, size), false)
CHANGE(mi_new_realloc, (void *old, size_t size), (old, size), default_pool(p),
       size, false)
CHANGE(mi_new_reallocn, (void *old, size_t n, size_t size), (old, n, size),
       default_pool(p), heap_calls_product(n, size), false)
CHANGE(mi_expand, (void *old, size_t size), (old, size), default_pool(p), size,
       false)
CHANGE(mi__expand, (void *old, size_t size), (old, size), default_pool(p), size,
       false)

static int
our_mi_reallocarr(void *p_at, size_t n, size_t size)
{
	void **const at = p_at;
	struct heap_calls_change c
		__attribute__((cleanup(heap_calls_change_end))) =
			heap_calls_change_begin(at != NULL ? *at : NULL,
						heap_calls_product(n, size));
	const int result = REAL(mi_reallocarr)(p_at, n, size);

	c.p = result == 0 && at != NULL ? *at : NULL;
	c.to = default_pool(c.p);
	return result;
}

/* Heaps -------------------------------------------------------------------- */

static void
begin_pools(void)
{
	heap_calls_begin(default_pool, patches[0].real);
}

/*
 * Delete the heap with this handle.  If the heap has blocks, it stays in the
 * trace until its last block is freed.  If the heap has no blocks, it ends now.
 */
static void
delete_pool(const void *handle)
{
	const uint64_t gone = heap_table_delete(handle);

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
	/*
	 * If an earlier heap has this handle, delete that heap.  The earlier
	 * heap may have ended with its thread, without a call that the recorder
	 * sees.
	 */
	delete_pool(handle);
	number = hatftrace_client_heap_create("mi_heap");
	if (heap_table_add(handle, number) == NULL)
		hatftrace_client_heap_destroy(number);
	return handle;
}

static void *
our_mi_heap_new(void)
{
	return new_pool(REAL(mi_heap_new)());
}

/* 'arena' is a number in version 2 and a pointer in later versions. */
static void *
our_mi_heap_new_in_arena(uintptr_t arena)
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
	const uint64_t gone = heap_table_destroy(heap);

	if (gone != 0)
		hatftrace_client_heap_destroy(gone);
	REAL(mi_heap_destroy)(heap);
}

static void *
our_mi_heap_set_default(void *heap)
{
	/* relaxed: only this thread uses the default heap that it sets. */
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

/* Is mimalloc still loaded at the address where it was found? */
static bool is_there;

static void *
find_other(const char *name)
{
	bool together;
	void *const p = elf_lookup_function(name, patches[0].real, &together);

	return p != NULL && together ? p : NULL;
}

void
mimalloc_patch(const struct known_objects *known)
{
	static const char *const markers[] = { "mi_is_in_heap_region",
					       "mi_version", NULL };

	if (is_there && elf_lookup_object(patches[0].real) == NULL)
		is_there = false;
	if (is_there) {
		patch_new_objects(patches, FUNCTION_COUNT, known);
		return;
	}
	/* Set these pointers before the first patched call can arrive. */
	patches[0].real = elf_lookup_function(patches[0].name, NULL, &is_there);
	is_mimallocs = (is_mimallocs_fn *)(uintptr_t)find_other(markers[0]);
	get_default =
		(get_default_fn *)(uintptr_t)find_other("mi_heap_get_default");
	is_there = patch_calls(patches, FUNCTION_COUNT, markers);
}

bool
mimalloc_has(const char *name)
{
	return is_there && patch_find(patches, FUNCTION_COUNT, name) != NULL;
}

void *
mimalloc_stand_in(const char *name, void *real)
{
	const struct patch *const p = patch_find(patches, FUNCTION_COUNT, name);

	return is_there && p != NULL && p->real == real ? p->ours : NULL;
}
