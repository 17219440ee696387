/* SPDX-License-Identifier: MIT */
/*
 * heapnew.cc - C++'s operators, and blocks of a heap
 *
 * Built with -DARENA for jemalloc, else for mimalloc.  Does each operation N
 * times, on 400 blocks of heap 1 in all, and prints nothing.
 */
#include <cstddef>
#include <cstdlib>
#include <new>

#define N 100

#ifdef ARENA
extern "C" int mallctl(const char *, void *, size_t *, void *, size_t);
extern "C" void *mallocx(size_t, int);

static unsigned arena;

static void
begin()
{
	size_t n = sizeof(arena);

	if (mallctl("arenas.create", &arena, &n, nullptr, 0) != 0)
		abort();
}

/* Make operator new allocate from the heap. */
static void
bind()
{
	if (mallctl("thread.arena", nullptr, nullptr, &arena, sizeof(arena)) !=
	    0)
		abort();
}

static void *
take(size_t size)
{
	return mallocx(size, (int)(arena + 1) << 20 | 1 << 8);
}
#else
extern "C" void *mi_heap_new(void);
extern "C" void *mi_heap_set_default(void *);
extern "C" void *mi_heap_malloc(void *, size_t);

static void *heap;

static void
begin()
{
	heap = mi_heap_new();
}

static void
bind()
{
	mi_heap_set_default(heap);
}

static void *
take(size_t size)
{
	return mi_heap_malloc(heap, size);
}
#endif

int
main()
{
	char *malloced = new char[100];

	begin();
	for (size_t i = 0; i < N; i++)
		delete static_cast<char *>(take(i + 1));
	bind();
	/* Large enough to be in no cache yet. */
	for (size_t i = 0; i < N; i++) {
		delete[] new char[20000 + i];
		delete[] new (std::nothrow) char[20000 + i];
		free(new char[20000 + i]);
	}
	delete[] malloced;
	return 0;
}
