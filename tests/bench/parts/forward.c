/* SPDX-License-Identifier: MIT */
/*
 * forward.c - an interposer that only forwards: the least cost of interposing
 */
#include <dlfcn.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

static void *(*real_malloc)(size_t);
static void (*real_free)(void *);

/* Later calls use these pointers; earlier ones use early_malloc(). */
__attribute__((constructor)) static void
forward_init(void)
{
	*(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&real_free = dlsym(RTLD_NEXT, "free");
}

EXPORT void *malloc(size_t nbytes);
EXPORT void free(void *p);

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

EXPORT void *
malloc(size_t nbytes)
{
	if (__builtin_expect(real_malloc == NULL, 0))
		return early_malloc(nbytes);
	return real_malloc(nbytes);
}

EXPORT void
free(void *p)
{
	if (__builtin_expect(real_free == NULL, 0))
		return;
	real_free(p);
}
