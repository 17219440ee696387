/* SPDX-License-Identifier: MIT */
/*
 * interpose_jemalloc.c - jemalloc's functions besides the functions of C
 *
 * Each function records the same events as its counterpart in interpose.c.  An
 * arena that the program makes is a heap of the trace.  A block belongs to the
 * heap of the arena that contains it.  We ask jemalloc for that arena, because
 * a thread's cache may return a block of an arena other than the thread's own.
 * The arenas that jemalloc makes for itself are heap 0, the heap of malloc().
 *
 * A process may contain two copies of jemalloc: one under its usual names, and
 * one whose names begin with "je_", built to run beside another malloc().
 * Nothing here is exported; see patch_calls.h.
 */

#include <stdint.h>
#include <unistd.h>

#include "preload/heaps/heap_calls.h"
#include "preload/heaps/jemalloc.h"
#include "preload/heaps/jemalloc_arenas.h"
#include "preload/heaps/patch_calls.h"
#include "preload/record/record.h"
#include "preload/sys/elf_lookup.h"

/*
 * From <jemalloc/jemalloc.h>: the logarithm of the alignment that 'flags' hold,
 * and the flag for zeroed memory.
 */
#define LG_ALIGN(flags) ((flags)&63)
#define ZERO		0x40

/*
 * The functions that only jemalloc has.  The first one identifies the object
 * that contains jemalloc; the others must be in the same object.
 */
#define OWN(X)      \
	X(mallocx)  \
	X(rallocx)  \
	X(xallocx)  \
	X(dallocx)  \
	X(sdallocx) \
	X(mallctl)  \
	X(mallctlbymib)

/* The functions of C; older versions of jemalloc lack those in LATE_OF_C. */
#define OF_C(X)           \
	X(malloc)         \
	X(calloc)         \
	X(realloc)        \
	X(free)           \
	X(posix_memalign) \
	X(aligned_alloc)  \
	X(memalign)       \
	X(valloc)

#define LATE_OF_C(X)  \
	X(pvalloc)    \
	X(free_sized) \
	X(free_aligned_sized)

#define NAME_INDEX(name) AT_##name,
enum {
	OWN(NAME_INDEX) OWN_COUNT,
	BEFORE_C = OWN_COUNT - 1,
	OF_C(NAME_INDEX) LATE_OF_C(NAME_INDEX) ALL_COUNT
};

struct jemalloc {
	struct patch *patches;
	/*
	 * The slots that calls go through (patch_calls.h) get the functions of
	 * the first 'patched_count' patches.  Our dlsym() returns the functions
	 * of all patches.
	 */
	size_t patched_count;
	bool is_there;
	struct arenas arenas;
};

/* The real function, with the type of the function that replaces it. */
#define REAL(j, name) ((name##_fn *)(uintptr_t)(j)->patches[AT_##name].real)

typedef void *mallocx_fn(size_t, int);
typedef void *rallocx_fn(void *, size_t, int);
typedef size_t xallocx_fn(void *, size_t, size_t, int);
typedef void dallocx_fn(void *, int);
typedef void sdallocx_fn(void *, size_t, int);
typedef void *malloc_fn(size_t);
typedef void *calloc_fn(size_t, size_t);
typedef void *realloc_fn(void *, size_t);
typedef void free_fn(void *);
typedef int posix_memalign_fn(void **, size_t, size_t);
typedef void *aligned_alloc_fn(size_t, size_t);
typedef void *memalign_fn(size_t, size_t);
typedef void *valloc_fn(size_t);
typedef void *pvalloc_fn(size_t);
typedef void free_sized_fn(void *, size_t);
typedef void free_aligned_sized_fn(void *, size_t, size_t);

/*
 * Functions that only jemalloc has ------------------------------------------
 */

static void *
take(struct jemalloc *j, void *p, size_t size, int flags)
{
	return heap_calls_took(
		arenas_of(&j->arenas, p, flags), p, size,
		LG_ALIGN(flags) != 0 ? (size_t)1 << LG_ALIGN(flags) : 0,
		(flags & ZERO) != 0 ? EVENT_FLAG_ZEROED : 0);
}

static void *
do_mallocx(struct jemalloc *j, size_t size, int flags)
{
	return take(j, REAL(j, mallocx)(size, flags), size, flags);
}

static void *
do_rallocx(struct jemalloc *j, void *old, size_t size, int flags)
{
	struct heap_calls_change c = heap_calls_change_begin(old, size);

	c.p = REAL(j, rallocx)(old, size, flags);
	c.to = arenas_of(&j->arenas, c.p, flags);
	heap_calls_change_end(&c);
	return c.p;
}

/*
 * Resize in place.  If the block now has 'size' bytes or more, record 'size';
 * otherwise record a failure.
 */
static size_t
do_xallocx(struct jemalloc *j, void *p, size_t size, size_t extra, int flags)
{
	struct heap_calls_change c = heap_calls_change_begin(p, size);
	const size_t result = REAL(j, xallocx)(p, size, extra, flags);

	c.p = result >= size ? p : NULL;
	c.to = c.from;
	heap_calls_change_end(&c);
	return result;
}

static void
do_dallocx(struct jemalloc *j, void *p, int flags)
{
	heap_calls_drop(p);
	REAL(j, dallocx)(p, flags);
}

static void
do_sdallocx(struct jemalloc *j, void *p, size_t size, int flags)
{
	heap_calls_drop(p);
	REAL(j, sdallocx)(p, size, flags);
}

/* The layout of the argument of mallctl("experimental.batch_alloc"). */
struct batch {
	void **blocks;
	size_t count, size;
	int flags;
};

static void
take_batch(struct jemalloc *j, const struct arenas_args *args)
{
	const struct batch *const batch = args->new_value;
	const size_t *const count = args->old_value;

	if (count == NULL || batch == NULL ||
	    args->new_nbytes != sizeof(struct batch))
		return;
	for (size_t i = 0; i < *count && i < batch->count; i++)
		take(j, batch->blocks[i], batch->size, batch->flags);
}

static void
end_ctl(struct jemalloc *j, const struct arenas_act *act,
	const struct arenas_args *args, int error)
{
	if (act->name == ARENAS_BATCH_ALLOC && error == 0)
		take_batch(j, args);
	arenas_end(&j->arenas, act, args, error);
}

static int
do_mallctl(struct jemalloc *j, const char *name, void *old_value,
	   size_t *old_nbytes, void *new_value, size_t new_nbytes)
{
	const struct arenas_args args = { old_value, old_nbytes, new_value,
					  new_nbytes };
	const struct arenas_act act = arenas_begin_name(&j->arenas, name);
	const int error = REAL(j, mallctl)(name, old_value, old_nbytes,
					   new_value, new_nbytes);

	end_ctl(j, &act, &args, error);
	return error;
}

static int
do_mallctlbymib(struct jemalloc *j, const size_t *mib, size_t count,
		void *old_value, size_t *old_nbytes, void *new_value,
		size_t new_nbytes)
{
	const struct arenas_args args = { old_value, old_nbytes, new_value,
					  new_nbytes };
	const struct arenas_act act = arenas_begin_mib(&j->arenas, mib, count);
	const int error = REAL(j, mallctlbymib)(
		mib, count, old_value, old_nbytes, new_value, new_nbytes);

	end_ctl(j, &act, &args, error);
	return error;
}

/*
 * The functions of C ---------------------------------------------
 */

static void *
take_plain(struct jemalloc *j, void *p, size_t size, size_t alignment,
	   unsigned flags)
{
	return heap_calls_took(arenas_of(&j->arenas, p, 0), p, size, alignment,
			       flags);
}

static void *
do_malloc(struct jemalloc *j, size_t size)
{
	return take_plain(j, REAL(j, malloc)(size), size, 0, 0);
}

static void *
do_calloc(struct jemalloc *j, size_t n, size_t size)
{
	return take_plain(j, REAL(j, calloc)(n, size),
			  heap_calls_product(n, size), 0, EVENT_FLAG_ZEROED);
}

static void *
do_realloc(struct jemalloc *j, void *old, size_t size)
{
	struct heap_calls_change c = heap_calls_change_begin(old, size);

	c.p = REAL(j, realloc)(old, size);
	c.frees = size == 0;
	c.to = arenas_of(&j->arenas, c.p, 0);
	heap_calls_change_end(&c);
	return c.p;
}

static void
do_free(struct jemalloc *j, void *p)
{
	heap_calls_drop(p);
	REAL(j, free)(p);
}

static int
do_posix_memalign(struct jemalloc *j, void **p_ret, size_t alignment,
		  size_t size)
{
	const int error = REAL(j, posix_memalign)(p_ret, alignment, size);

	take_plain(j, error == 0 ? *p_ret : NULL, size, alignment, 0);
	return error;
}

static void *
do_aligned_alloc(struct jemalloc *j, size_t alignment, size_t size)
{
	return take_plain(j, REAL(j, aligned_alloc)(alignment, size), size,
			  alignment, 0);
}

static void *
do_memalign(struct jemalloc *j, size_t alignment, size_t size)
{
	return take_plain(j, REAL(j, memalign)(alignment, size), size,
			  alignment, 0);
}

static void *
do_valloc(struct jemalloc *j, size_t size)
{
	return take_plain(j, REAL(j, valloc)(size), size,
			  (size_t)sysconf(_SC_PAGESIZE), 0);
}

static void *
do_pvalloc(struct jemalloc *j, size_t size)
{
	return take_plain(j, REAL(j, pvalloc)(size), size,
			  (size_t)sysconf(_SC_PAGESIZE), 0);
}

static void
do_free_sized(struct jemalloc *j, void *p, size_t size)
{
	heap_calls_drop(p);
	REAL(j, free_sized)(p, size);
}

static void
do_free_aligned_sized(struct jemalloc *j, void *p, size_t alignment,
		      size_t size)
{
	heap_calls_drop(p);
	REAL(j, free_aligned_sized)(p, alignment, size);
}

/*
 * A replacement for each function --------------------------------------------
 */

#define UNPACK(...) __VA_ARGS__

/* The replacement of the function 'name' in one copy of jemalloc. */
#define STAND(one, type, name, params, args)         \
	static type one##_##name params              \
	{                                            \
		return do_##name(&one, UNPACK args); \
	}

#define STAND_VOID(one, name, params, args)   \
	static void one##_##name params       \
	{                                     \
		do_##name(&one, UNPACK args); \
	}

#define STAND_OWN(one)                                                     \
	STAND(one, void *, mallocx, (size_t n, int f), (n, f))             \
	STAND(one, void *, rallocx, (void *p, size_t n, int f), (p, n, f)) \
	STAND(one, size_t, xallocx, (void *p, size_t n, size_t x, int f),  \
	      (p, n, x, f))                                                \
	STAND_VOID(one, dallocx, (void *p, int f), (p, f))                 \
	STAND_VOID(one, sdallocx, (void *p, size_t n, int f), (p, n, f))   \
	STAND(one, int, mallctl,                                           \
	      (const char *s, void *o, size_t *on, void *v, size_t vn),    \
	      (s, o, on, v, vn))                                           \
	STAND(one, int, mallctlbymib,                                      \
	      (const size_t *m, size_t n, void *o, size_t *on, void *v,    \
	       size_t vn),                                                 \
	      (m, n, o, on, v, vn))

#define STAND_C(one)                                                       \
	STAND(one, void *, malloc, (size_t n), (n))                        \
	STAND(one, void *, calloc, (size_t k, size_t n), (k, n))           \
	STAND(one, void *, realloc, (void *p, size_t n), (p, n))           \
	STAND_VOID(one, free, (void *p), (p))                              \
	STAND(one, int, posix_memalign, (void **p, size_t a, size_t n),    \
	      (p, a, n))                                                   \
	STAND(one, void *, aligned_alloc, (size_t a, size_t n), (a, n))    \
	STAND(one, void *, memalign, (size_t a, size_t n), (a, n))         \
	STAND(one, void *, valloc, (size_t n), (n))                        \
	STAND(one, void *, pvalloc, (size_t n), (n))                       \
	STAND_VOID(one, free_sized, (void *p, size_t n), (p, n))           \
	STAND_VOID(one, free_aligned_sized, (void *p, size_t a, size_t n), \
		   (p, a, n))

#define PATCH(one, prefix, name, is_optional) \
	{ prefix #name, (void *)(uintptr_t)one##_##name, NULL, is_optional },
#define PLAIN_PATCH(name)     PATCH(plain, "", name, false)
#define PLAIN_OPTIONAL(name)  PATCH(plain, "", name, true)
#define PREFIX_PATCH(name)    PATCH(prefixed, "je_", name, false)
#define PREFIX_OPTIONAL(name) PATCH(prefixed, "je_", name, true)

static struct jemalloc plain, prefixed;

STAND_OWN(plain)
STAND_C(plain)
STAND_OWN(prefixed)
STAND_C(prefixed)

/*
 * Other objects call the functions of C by names, such as malloc(), that lead
 * to another allocator or to us.  For 'plain', the copy of jemalloc under its
 * usual names, we therefore patch only the slots of the functions that jemalloc
 * alone has.  But plain_patches also has the functions of C, because a program
 * may look up this copy's functions of C by dlsym().
 */
static struct patch plain_patches[] = { OWN(PLAIN_PATCH) OF_C(PLAIN_OPTIONAL)
						LATE_OF_C(PLAIN_OPTIONAL) };
static struct patch prefixed_patches[] = { OWN(PREFIX_PATCH) OF_C(
	PREFIX_OPTIONAL) LATE_OF_C(PREFIX_OPTIONAL) };

static struct pool *
plain_of(const void *p)
{
	return arenas_of(&plain.arenas, p, 0);
}

static struct pool *
prefixed_of(const void *p)
{
	return arenas_of(&prefixed.arenas, p, 0);
}

/* Nothing reads these bytes; their addresses are the handles of the arenas. */
static const char plain_handles[ARENAS_MAX], prefixed_handles[ARENAS_MAX];

static struct jemalloc plain = {
	.patches = plain_patches,
	.patched_count = OWN_COUNT,
	.arenas = { .handles = plain_handles, .of_plain = plain_of },
};
static struct jemalloc prefixed = {
	.patches = prefixed_patches,
	.patched_count = ALL_COUNT,
	.arenas = { .handles = prefixed_handles, .of_plain = prefixed_of },
};

static void
patch(struct jemalloc *j, const char *const *markers,
      const struct known_objects *known)
{
	struct arenas *const a = &j->arenas;
	bool together;

	if (j->is_there && elf_lookup_object(j->patches[0].real) == NULL) {
		/*
		 * jemalloc was unloaded, so forget where it was.  The program
		 * may load it again, at another address.
		 */
		j->is_there = false;
		atomic_store_explicit(&a->state, 0, memory_order_relaxed);
	}
	if (j->is_there) {
		patch_new_objects(j->patches, j->patched_count, known);
		return;
	}
	/* Set these pointers before the first patched call can arrive. */
	a->mallctlnametomib =
		(mallctlnametomib_fn *)(uintptr_t)elf_lookup_function(
			markers[0], NULL, &together);
	a->mallctl = (mallctl_fn *)(uintptr_t)elf_lookup_function(
		j->patches[AT_mallctl].name, NULL, &together);
	a->mallctlbymib = (mallctlbymib_fn *)(uintptr_t)elf_lookup_function(
		j->patches[AT_mallctlbymib].name, NULL, &together);
	j->is_there = patch_calls(j->patches, j->patched_count, markers);
}

void
jemalloc_patch(const struct known_objects *known)
{
	/* Functions by which a copy of jemalloc is recognized. */
	static const char *const markers[] = { "mallctlnametomib", "nallocx",
					       NULL };
	static const char *const prefixed_markers[] = { "je_mallctlnametomib",
							"je_nallocx", NULL };

	patch(&plain, markers, known);
	patch(&prefixed, prefixed_markers, known);
}

bool
jemalloc_has(const char *name)
{
	return (plain.is_there &&
		patch_find(plain_patches, ALL_COUNT, name) != NULL) ||
	       (prefixed.is_there &&
		patch_find(prefixed_patches, ALL_COUNT, name) != NULL);
}

static void *
stand_in(struct jemalloc *j, const char *name, void *real)
{
	struct patch *const p = patch_find(j->patches, ALL_COUNT, name);

	if (!j->is_there || p == NULL ||
	    elf_lookup_object(real) != elf_lookup_object(j->patches[0].real))
		return NULL;
	p->real = real;
	return p->ours;
}

void *
jemalloc_stand_in(const char *name, void *real)
{
	void *const ours = stand_in(&plain, name, real);

	return ours != NULL ? ours : stand_in(&prefixed, name, real);
}
