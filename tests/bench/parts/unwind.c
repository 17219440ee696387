/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - an interposer that takes call stacks with libunwind
 *
 * It forwards malloc, calloc and realloc, and with -DUNWIND it also calls
 * unw_backtrace(), and forgets the stack.  What it adds to a program is what
 * plain libunwind would add to a recorder.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef UNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

#define EXPORT	  __attribute__((visibility("default")))
#define DEPTH_MAX 128

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);

/* Later calls use these pointers; earlier ones use early_malloc(). */
__attribute__((constructor)) static void
forward_init(void)
{
	*(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
}

EXPORT void *malloc(size_t nbytes);
EXPORT void *calloc(size_t count, size_t nbytes);
EXPORT void *realloc(void *p, size_t nbytes);

/* Memory for calls before the constructor; never freed. */
static char early[65536] __attribute__((aligned(16)));
static size_t early_used;

static void *
early_malloc(size_t nbytes)
{
	const size_t step = (nbytes + 15) & ~(size_t)15;

	if (step < nbytes || step > sizeof(early) - early_used)
		return NULL;
	early_used += step;
	return early + early_used - step;
}

static inline void
take_stack(void)
{
#ifdef UNWIND
	static __thread bool is_inside;
	void *frames[DEPTH_MAX];

	/* libunwind may allocate the first time. */
	if (is_inside)
		return;
	is_inside = true;
	unw_backtrace(frames, DEPTH_MAX);
	is_inside = false;
#endif
}

EXPORT void *
malloc(size_t nbytes)
{
	if (__builtin_expect(real_malloc == NULL, 0))
		return early_malloc(nbytes);
	take_stack();
	return real_malloc(nbytes);
}

EXPORT void *
calloc(size_t count, size_t nbytes)
{
	/* The early memory is zero. */
	if (__builtin_expect(real_malloc == NULL, 0))
		return early_malloc(count * nbytes);
	take_stack();
	return real_calloc(count, nbytes);
}

EXPORT void *
realloc(void *p, size_t nbytes)
{
	const size_t room = (size_t)(early + sizeof(early) - (char *)p);

	if (__builtin_expect((char *)p >= early &&
				     (char *)p < early + sizeof(early),
			     0)) {
		char *const moved = malloc(nbytes);

		if (moved != NULL)
			memcpy(moved, p, nbytes < room ? nbytes : room);
		return moved;
	}
	take_stack();
	return real_realloc(p, nbytes);
}
