/* SPDX-License-Identifier: MIT */
/*
 * entrypoints.c - call every entry point of the C allocator, in every outcome
 *
 * Prints lines "value ..." with what the calls returned, which must be the same
 * with and without the recorder, and "event ..." (notes.h), which the trace
 * must have.  With the argument 'no-pvalloc' it omits pvalloc().  The calls go
 * through volatile pointers: otherwise the compiler would recognize malloc()
 * and remove pairs of calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "notes.h"

#define HUGE_NBYTES ((size_t)PTRDIFF_MAX - 4096) /* more than there is */
#define NO_ERRNO    4711

static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static void *(*volatile do_reallocarray)(void *, size_t, size_t) = reallocarray;
static void *(*volatile do_memalign)(size_t, size_t) = memalign;
static void *(*volatile do_aligned_alloc)(size_t, size_t) = aligned_alloc;
static int (*volatile do_posix_memalign)(void **, size_t,
					 size_t) = posix_memalign;
static void *(*volatile do_valloc)(size_t) = valloc;
static void *(*volatile do_pvalloc)(size_t) = pvalloc;
static void (*volatile do_free)(void *) = free;

static struct value {
	const char *what;
	size_t number;
	int is_null, error, aligned, usable, result;
} values[1024];
static size_t value_count;

/* Keep the result of a call; its address must be a multiple of 'align'. */
static void
value(const char *what, size_t number, void *p, size_t align, int result)
{
	struct value *const v = &values[value_count++];

	v->what = what;
	v->number = number;
	v->error = errno;
	v->is_null = p == NULL;
	v->aligned = align == 0 || (uintptr_t)p % align == 0;
	v->usable = p == NULL || number == NOTES_ANY ||
		    malloc_usable_size(p) >= number;
	v->result = result;
	errno = NO_ERRNO;
}

static void *
check_malloc(size_t n)
{
	void *const p = do_malloc(n);

	value("malloc", n, p, 16, 0);
	note_alloc(n, p);
	return p;
}

static void
check_free(void *p)
{
	do_free(p);
	value("free", 0, NULL, 0, 0);
	note_free(p);
}

static void *
check_realloc(void *old, size_t n)
{
	void *const p = do_realloc(old, n);

	value("realloc", n, p, 16, 0);
	value("realloc moved", n, NULL, 0, p != NULL && p != old);
	note_realloc(n, p, old);
	return p;
}

static void
check_mallocs(void)
{
	static const size_t sizes[] = { 0,    1,      24,      25,
					1000, 100000, 1 << 20, 5 << 20 };
	void *p[sizeof(sizes) / sizeof(sizes[0])];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		p[i] = check_malloc(sizes[i]);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_free(p[i]);
	check_malloc(HUGE_NBYTES);
	check_malloc(SIZE_MAX);
	check_free(NULL);
}

static void
check_callocs(void)
{
	static const size_t sizes[][2] = {
		{ 0, 0 }, { 0, 8 },	  { 1, 1 },
		{ 7, 9 }, { 1000, 1000 }, { 3, 1 << 20 },
	};
	void *p;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const size_t n = sizes[i][0] * sizes[i][1];
		int dirty = 0;

		p = do_calloc(sizes[i][0], sizes[i][1]);
		for (size_t k = 0; p != NULL && k < n; k++)
			dirty |= ((char *)p)[k];
		value("calloc", n, p, 16, dirty);
		note_add("alloc", n, p, NULL, 0, 1);
		if (p != NULL)
			memset(p, 0x55, n);
		check_free(p);
	}
	p = do_calloc(HUGE_NBYTES, 1);
	value("calloc", HUGE_NBYTES, p, 0, 0);
	note_add("alloc", HUGE_NBYTES, p, NULL, 0, 1);
	p = do_calloc(SIZE_MAX / 2, 3);
	value("calloc", NOTES_ANY, p, 0, 0);
	note_add("alloc", NOTES_ANY, p, NULL, 0, 1);
}

static void
check_reallocs(void)
{
	void *p = check_realloc(NULL, 100), *fence;

	fence = check_malloc(100);
	p = check_realloc(p, 90);     /* stays */
	p = check_realloc(p, 100000); /* the fence makes it move */
	p = check_realloc(p, 1 << 20);
	p = check_realloc(p, 8 << 20); /* a mapping, made larger */
	p = check_realloc(p, 50);
	check_realloc(p, HUGE_NBYTES);
	check_realloc(p, SIZE_MAX);
	p = check_realloc(p, 60); /* the failures left it alone */
	p = check_realloc(p, 0);
	if (p != NULL) /* some allocators give a block of no bytes */
		check_free(p);
	p = check_realloc(NULL, 0);
	check_free(p);
	check_realloc(NULL, HUGE_NBYTES);
	check_free(fence);
}

static void
check_reallocarrays(void)
{
	void *p = do_reallocarray(NULL, 10, 20), *old;

	value("reallocarray", 200, p, 16, 0);
	note_realloc(200, p, NULL);
	old = p;
	p = do_reallocarray(old, 1000, 100);
	value("reallocarray", 100000, p, 16, 0);
	note_realloc(100000, p, old);
	value("reallocarray", NOTES_ANY, do_reallocarray(p, SIZE_MAX / 4, 5), 0,
	      0);
	note_realloc(NOTES_ANY, NULL, p);
	value("reallocarray", NOTES_ANY,
	      do_reallocarray(NULL, SIZE_MAX, SIZE_MAX), 0, 0);
	note_realloc(NOTES_ANY, NULL, NULL);
	check_free(p);
}

static void
check_aligned(void)
{
	const size_t page = 4096;
	void *p;

	for (size_t align = 8; align <= 65536; align *= 2) {
		p = do_memalign(align, 100);
		value("memalign", 100, p, align, 0);
		note_add("alloc", 100, p, NULL, align, 0);
		check_free(p);
		p = do_aligned_alloc(align, 4 * align);
		value("aligned_alloc", 4 * align, p, align, 0);
		note_add("alloc", 4 * align, p, NULL, align, 0);
		p = check_realloc(p, 9 * align);
		check_free(p);
	}
	p = do_memalign(16, HUGE_NBYTES);
	value("memalign", HUGE_NBYTES, p, 0, 0);
	note_add("alloc", HUGE_NBYTES, p, NULL, 16, 0);
	p = do_valloc(10);
	value("valloc", 10, p, page, 0);
	note_add("alloc", 10, p, NULL, page, 0);
	check_free(p);
}

/* In a function of its own, because not every allocator has pvalloc(). */
static void
check_pvalloc(void)
{
	void *const p = do_pvalloc(10);

	value("pvalloc", 4096, p, 4096, 0);
	note_add("alloc", 10, p, NULL, 4096, 0);
	check_free(p);
}

static void
check_posix_memalign(size_t align, size_t n)
{
	void *p = NULL;
	const int result = do_posix_memalign(&p, align, n);

	value("posix_memalign", n, p, p != NULL ? align : 0, result);
	note_add("alloc", n, p, NULL, align, 0);
	if (result == 0)
		check_free(p);
}

static void
check_posix_memaligns(void)
{
	static const size_t bad[] = { 0, 1, 3, 4, 12, 24, 100 };

	for (size_t align = 8; align <= 65536; align *= 2)
		check_posix_memalign(align, 1000);
	check_posix_memalign(64, 0);
	check_posix_memalign(64, HUGE_NBYTES);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_posix_memalign(bad[i], 100);
}

/* C23; not every libc has these, so no values are printed. */
static void
check_sized(void)
{
	void *const sized = dlsym(RTLD_DEFAULT, "free_sized");
	void *const aligned = dlsym(RTLD_DEFAULT, "free_aligned_sized");
	void (*free_sized_fn)(void *, size_t);
	void (*free_aligned_sized_fn)(void *, size_t, size_t);
	void *p;

	memcpy(&free_sized_fn, &sized, sizeof(sized));
	memcpy(&free_aligned_sized_fn, &aligned, sizeof(aligned));
	if (sized != NULL) {
		p = do_malloc(100);
		note_alloc(100, p);
		free_sized_fn(p, 100);
		note_free(p);
		free_sized_fn(NULL, 100);
	}
	if (aligned != NULL) {
		p = do_aligned_alloc(64, 128);
		note_add("alloc", 128, p, NULL, 64, 0);
		free_aligned_sized_fn(p, 64, 128);
		note_free(p);
	}
}

int
main(int argc, char **argv)
{
	do_free(do_malloc(NOTES_BEGIN));
	errno = NO_ERRNO;
	check_mallocs();
	check_callocs();
	check_reallocs();
	check_reallocarrays();
	check_aligned();
	if (argc < 2 || strcmp(argv[1], "no-pvalloc") != 0)
		check_pvalloc();
	check_posix_memaligns();
	/* Last, because a failed look-up of a symbol changes the heap. */
	check_sized();
	do_free(do_malloc(NOTES_END));
	for (size_t i = 0; i < value_count; i++)
		printf("value %s(%zd): %s errno %d aligned %d usable %d result "
		       "%d\n",
		       values[i].what, values[i].number,
		       values[i].is_null ? "null" : "block", values[i].error,
		       values[i].aligned, values[i].usable, values[i].result);
	notes_print();
	return 0;
}
