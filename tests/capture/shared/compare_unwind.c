/* SPDX-License-Identifier: MIT */
/*
 * compare_unwind.c - the recorder's walk of the stack beside libunwind's
 *
 * To be preloaded alone.  At each malloc, calloc and realloc it walks the stack
 * as the recorder does and by unw_backtrace(3), and compares all frames.  At
 * the end of the process it appends a line to the file that $COMPARE_OUT names:
 * captures, how many differ, and how many the walk has cut off or lost.  The
 * first difference is printed on standard error.
 */
#define UNW_LOCAL_ONLY
#include "preload/stacks/code_object.h"
#include "preload/stacks/walk.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 600

/* What dlsym() allocates before it has found the real functions. */
static char early[65536];
static size_t early_used;

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);

static __thread int depth; /* not 0: a call of our own */
static __thread struct walk *walk;
static _Atomic unsigned long captures, different, cut, lost;
static uintptr_t own_begin, own_end;

static void
report(void)
{
	const char *const path = getenv("COMPARE_OUT");
	FILE *f;

	depth++;
	f = path != NULL ? fopen(path, "a") : NULL;
	if (f != NULL) {
		fprintf(f, "captures=%lu different=%lu cut=%lu lost=%lu\n",
			captures, different, cut, lost);
		fclose(f);
	}
	depth--;
}

static void
begin(void)
{
	struct code_object own;

	depth++;
	real_malloc = dlsym(RTLD_NEXT, "malloc");
	real_calloc = dlsym(RTLD_NEXT, "calloc");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_free = dlsym(RTLD_NEXT, "free");
	code_object_init();
	code_object_find((uintptr_t)&report, &own);
	own_begin = own.begin;
	own_end = own.end;
	atexit(report);
	depth--;
}

static void
print(void *const *want, unsigned n)
{
	for (unsigned i = 0; i < n || i < walk->count; i++) {
		Dl_info info = { .dli_fname = "?" };
		const uintptr_t ours =
			i < walk->count
				? walk->frame[walk->count - 1 - i].address
				: 0;

		dladdr(i < n ? want[i] : (void *)ours, &info);
		fprintf(stderr, "%2u libunwind %p, ours %#lx %s\n", i,
			i < n ? want[i] : NULL, ours, info.dli_fname);
	}
}

static __attribute__((noinline)) void
compare(void)
{
	struct walk_context here;
	void *frames[FRAMES_MAX], **want = frames;
	bool is_same;
	int n;

	if (walk == NULL) {
		walk = real_calloc(1, sizeof(*walk));
		walk->depth = WALK_DEPTH_MAX;
	}
	here = walk_here();
	walk_stack(walk, &here, own_begin, own_end);
	captures++;
	cut += walk->end == WALK_CUT;
	lost += walk->end == WALK_LOST;
	n = unw_backtrace(frames, FRAMES_MAX);
	while (n > 0 && (uintptr_t)*want - own_begin < own_end - own_begin) {
		want++;
		n--;
	}
	is_same = walk->end == WALK_CUT || n == (int)walk->count;
	for (int i = 0; is_same && i < n && i < (int)walk->count; i++)
		is_same = (uintptr_t)want[i] ==
			  walk->frame[walk->count - 1 - (unsigned)i].address;
	if (!is_same && different++ == 0)
		print(want, (unsigned)n);
}

static void
note(void)
{
	if (depth != 0)
		return;
	depth++;
	compare();
	depth--;
}

static void *
take_early(size_t nbytes)
{
	void *const p = early + early_used;

	early_used += (nbytes + 15) & ~(size_t)15;
	return early_used <= sizeof(early) ? p : NULL;
}

static int
is_early(const void *p)
{
	return (const char *)p >= early &&
	       (const char *)p < early + sizeof(early);
}

void *
malloc(size_t nbytes)
{
	if (real_malloc == NULL && depth == 0)
		begin();
	if (real_malloc == NULL)
		return take_early(nbytes);
	note();
	return real_malloc(nbytes);
}

void *
calloc(size_t n, size_t nbytes)
{
	if (real_malloc == NULL && depth == 0)
		begin();
	if (real_calloc == NULL)
		return take_early(n * nbytes);
	note();
	return real_calloc(n, nbytes);
}

void *
realloc(void *old, size_t nbytes)
{
	void *p;

	if (real_malloc == NULL && depth == 0)
		begin();
	if (real_realloc == NULL)
		return take_early(nbytes);
	note();
	if (!is_early(old))
		return real_realloc(old, nbytes);
	p = real_malloc(nbytes);
	if (p != NULL)
		memcpy(p, old, nbytes < 1024 ? nbytes : 1024);
	return p;
}

void
free(void *p)
{
	if (!is_early(p) && real_free != NULL)
		real_free(p);
}
