/* SPDX-License-Identifier: MIT */
/*
 * mimalloc.c - a program that calls each of mimalloc's own functions
 *
 * usage: mimalloc each | heaps | threads | fork
 *
 * Prints what the trace must have between two allocations of the sizes BEGIN
 * and END, one record on each line:
 *
 *	event TAG SIZE ADDRESS OLD HEAP ALIGNMENT ZEROED
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEGIN 7777001
#define END   7777002
#define LARGE ((size_t)1 << 62)
#define N     1000

struct note {
	const char *tag;
	size_t size, align;
	const void *address, *old;
	unsigned heap;
	int zeroed;
};

static struct note notes[4096];
static size_t note_count;

static void
note(const char *tag, size_t size, const void *address, const void *old,
     unsigned heap, size_t align, int zeroed)
{
	if (note_count == sizeof(notes) / sizeof(notes[0]))
		abort();
	notes[note_count++] =
		(struct note){ tag, size, align, address, old, heap, zeroed };
}

/* An address that the program does not know: '*'. */
#define ANY ((const void *)-1)

static void
print_address(const void *p)
{
	if (p == ANY)
		printf(" *");
	else
		printf(" 0x%zx", (size_t)p);
}

static void
notes_print(void)
{
	for (size_t i = 0; i < note_count; i++) {
		const struct note *const n = &notes[i];

		printf("event %s %zu", n->tag, n->size);
		print_address(n->address);
		print_address(n->old);
		printf(" %u %zu %d\n", n->heap, n->align, n->zeroed);
	}
}

/* From <mimalloc.h>, which need not be installed. */
#define TAKES(name, ...)              \
	void *mi_##name(__VA_ARGS__); \
	void *mi_heap_##name(void *, __VA_ARGS__)
TAKES(malloc, size_t);
TAKES(zalloc, size_t);
TAKES(calloc, size_t, size_t);
TAKES(mallocn, size_t, size_t);
TAKES(malloc_small, size_t);
TAKES(malloc_aligned, size_t, size_t);
TAKES(zalloc_aligned, size_t, size_t);
TAKES(calloc_aligned, size_t, size_t, size_t);
TAKES(malloc_aligned_at, size_t, size_t, size_t);
TAKES(zalloc_aligned_at, size_t, size_t, size_t);
TAKES(calloc_aligned_at, size_t, size_t, size_t, size_t);
TAKES(realloc, void *, size_t);
TAKES(reallocn, void *, size_t, size_t);
TAKES(reallocf, void *, size_t);
TAKES(rezalloc, void *, size_t);
TAKES(recalloc, void *, size_t, size_t);
TAKES(realloc_aligned, void *, size_t, size_t);
TAKES(rezalloc_aligned, void *, size_t, size_t);
TAKES(recalloc_aligned, void *, size_t, size_t, size_t);
TAKES(realloc_aligned_at, void *, size_t, size_t, size_t);
TAKES(rezalloc_aligned_at, void *, size_t, size_t, size_t);
TAKES(recalloc_aligned_at, void *, size_t, size_t, size_t, size_t);
TAKES(strdup, const char *);
TAKES(strndup, const char *, size_t);
TAKES(realpath, const char *, char *);
void *mi_zalloc_small(size_t);
void *mi_memalign(size_t, size_t);
void *mi_aligned_alloc(size_t, size_t);
void *mi_valloc(size_t);
void *mi_pvalloc(size_t);
int mi_posix_memalign(void **, size_t, size_t);
void *mi_new(size_t);
void *mi_new_nothrow(size_t);
void *mi_new_aligned(size_t, size_t);
void *mi_new_aligned_nothrow(size_t, size_t);
void *mi_new_n(size_t, size_t);
void *mi_new_realloc(void *, size_t);
void *mi_new_reallocn(void *, size_t, size_t);
void *mi_heap_alloc_new(void *, size_t);
void *mi_heap_alloc_new_n(void *, size_t, size_t);
void *mi_aligned_recalloc(void *, size_t, size_t, size_t);
void *mi_aligned_offset_recalloc(void *, size_t, size_t, size_t, size_t);
void *mi_reallocarray(void *, size_t, size_t);
int mi_reallocarr(void *, size_t, size_t);
void *mi_expand(void *, size_t);
void *mi__expand(void *, size_t);
void *mi_mbsdup(const void *);
void *mi_wcsdup(const unsigned short *);
int mi_dupenv_s(void **, size_t *, const char *);
void mi_free(void *);
void mi_cfree(void *);
void mi_free_size(void *, size_t);
void mi_free_aligned(void *, size_t);
void mi_free_size_aligned(void *, size_t, size_t);
void *mi_heap_new(void);
void *mi_heap_new_in_arena(int);
void mi_heap_delete(void *);
void mi_heap_destroy(void *);
void *mi_heap_set_default(void *);
void *mi_heap_get_backing(void);

/* The heap of functions without a heap argument. */
static unsigned default_heap;

static void
took(void *p, unsigned heap, size_t size, size_t align, int zeroed)
{
	note("alloc", size, p, NULL, heap, align, zeroed);
}

static void *
took_and_drop(void *p, unsigned heap, size_t size, size_t align, int zeroed)
{
	took(p, heap, size, align, zeroed);
	if (p != NULL)
		note("free", 0, p, NULL, heap, 0, 0);
	mi_free(p);
	return NULL;
}

/* libc's realpath("/", NULL), which mimalloc copies. */
static void
note_realpath(void)
{
	note("alloc", 2, ANY, NULL, default_heap, 0, 0);
	note("free", 0, ANY, NULL, default_heap, 0, 0);
}

/* realloc(old, size) of a block of 'heap' returned 'p'. */
static void *
changed(void *p, void *old, unsigned heap, size_t size)
{
	if (old == NULL && p != NULL) {
		note("reallocAlloc", size, p, NULL, heap, 0, 0);
		note("alloc", size, p, NULL, heap, 0, 0);
	} else if (p == NULL || p == old) {
		note("reallocNoAlloc", size, p, old, heap, 0, 0);
	} else {
		note("reallocAllocFree", size, p, old, heap, 0, 0);
		note("alloc", size, p, NULL, heap, 0, 0);
		note("free", 0, old, NULL, heap, 0, 0);
	}
	return p != NULL ? p : old;
}

static void
drop(void *p, unsigned heap)
{
	note("free", 0, p, NULL, heap, 0, 0);
	mi_free(p);
}

#define D default_heap

static void
take_each(void)
{
	static const unsigned short wide[] = { 'a', 'b', 0 };
	void *p;
	size_t n;

	took_and_drop(mi_malloc(100), D, 100, 0, 0);
	took_and_drop(mi_malloc(100000), D, 100000, 0, 0);
	took_and_drop(mi_malloc(LARGE), D, LARGE, 0, 0);
	took_and_drop(mi_zalloc(101), D, 101, 0, 1);
	took_and_drop(mi_calloc(3, 34), D, 102, 0, 1);
	took_and_drop(mi_calloc(LARGE, 8), D, (size_t)-1, 0, 1);
	took_and_drop(mi_mallocn(3, 35), D, 105, 0, 0);
	took_and_drop(mi_malloc_small(106), D, 106, 0, 0);
	took_and_drop(mi_zalloc_small(107), D, 107, 0, 1);
	took_and_drop(mi_malloc_aligned(108, 64), D, 108, 64, 0);
	took_and_drop(mi_zalloc_aligned(109, 128), D, 109, 128, 1);
	took_and_drop(mi_calloc_aligned(2, 55, 64), D, 110, 64, 1);
	took_and_drop(mi_malloc_aligned_at(111, 64, 8), D, 111, 0, 0);
	took_and_drop(mi_zalloc_aligned_at(112, 64, 8), D, 112, 0, 1);
	took_and_drop(mi_calloc_aligned_at(2, 56, 64, 8), D, 112, 0, 1);
	took_and_drop(mi_memalign(64, 113), D, 113, 64, 0);
	took_and_drop(mi_aligned_alloc(64, 128), D, 128, 64, 0);
	took_and_drop(mi_valloc(114), D, 114, 4096, 0);
	took_and_drop(mi_pvalloc(115), D, 115, 4096, 0);
	if (mi_posix_memalign(&p, 64, 116) == 0)
		took_and_drop(p, D, 116, 64, 0);
	took_and_drop(mi_new(117), D, 117, 0, 0);
	took_and_drop(mi_new_nothrow(118), D, 118, 0, 0);
	took_and_drop(mi_new_aligned(119, 64), D, 119, 64, 0);
	took_and_drop(mi_new_aligned_nothrow(120, 64), D, 120, 64, 0);
	took_and_drop(mi_new_n(2, 61), D, 122, 0, 0);
	took_and_drop(mi_strdup("seven"), D, 6, 0, 0);
	took_and_drop(mi_strndup("seven", 3), D, 4, 0, 0);
	took_and_drop(mi_mbsdup("eight"), D, 6, 0, 0);
	took_and_drop(mi_wcsdup(wide), D, 6, 0, 0);
	if (mi_dupenv_s(&p, &n, "MI_TEST") == 0)
		took_and_drop(p, D, 4, 0, 0);
	if (mi_strdup(NULL) != NULL || mi_realpath("/no/such", NULL) != NULL)
		abort();
	note_realpath();
	took_and_drop(mi_realpath("/", NULL), D, 2, 0, 0);
}

static void
change_each(void)
{
	void *p = NULL, *old;

	p = changed(mi_realloc(p, 40), p, D, 40);
	p = changed(mi_realloc(p, 39), p, D, 39);
	p = changed(mi_realloc(p, 4000), p, D, 4000);
	p = changed(mi_realloc(p, LARGE), p, D, LARGE);
	p = changed(mi_reallocn(p, 3, 5000), p, D, 15000);
	p = changed(mi_reallocarray(p, 3, 50), p, D, 150);
	old = p;
	if (mi_reallocarr(&p, 3, 500) == 0)
		p = changed(p, old, D, 1500);
	p = changed(mi_expand(p, 1490), p, D, 1490);
	p = changed(mi__expand(p, 1480), p, D, 1480);
	p = changed(mi_expand(p, 100000), p, D, 100000);
	p = changed(mi_new_realloc(p, 10000), p, D, 10000);
	p = changed(mi_new_reallocn(p, 10, 10000), p, D, 100000);
	p = changed(mi_realloc_aligned(p, 64, 64), p, D, 64);
	p = changed(mi_realloc_aligned_at(p, 640, 64, 8), p, D, 640);
	p = changed(mi_reallocf(p, 70), p, D, 70);
	note("reallocFree", 0, NULL, p, D, 0, 0);
	note("free", 0, p, NULL, D, 0, 0);
	if (mi_reallocf(p, LARGE) != NULL)
		abort();
	p = NULL;
	p = changed(mi_rezalloc(p, 50), p, D, 50);
	p = changed(mi_recalloc(p, 5, 100), p, D, 500);
	p = changed(mi_rezalloc_aligned(p, 1000, 64), p, D, 1000);
	p = changed(mi_rezalloc_aligned_at(p, 3000, 64, 8), p, D, 3000);
	p = changed(mi_recalloc_aligned(p, 3, 3000, 64), p, D, 9000);
	p = changed(mi_recalloc_aligned_at(p, 3, 9000, 64, 8), p, D, 27000);
	p = changed(mi_aligned_recalloc(p, 1, 100, 64), p, D, 100);
	p = changed(mi_aligned_offset_recalloc(p, 5, 100, 64, 8), p, D, 500);
	drop(p, D);
}

static void
drop_each(void)
{
	void *p;

	mi_free(NULL);
	mi_cfree(NULL);
	mi_cfree(&p);
	took(p = mi_malloc(10), D, 10, 0, 0);
	note("free", 0, p, NULL, D, 0, 0);
	mi_cfree(p);
	took(p = mi_malloc(11), D, 11, 0, 0);
	note("free", 0, p, NULL, D, 0, 0);
	mi_free_size(p, 11);
	took(p = mi_malloc_aligned(12, 64), D, 12, 64, 0);
	note("free", 0, p, NULL, D, 0, 0);
	mi_free_aligned(p, 64);
	took(p = mi_malloc_aligned(13, 64), D, 13, 64, 0);
	note("free", 0, p, NULL, D, 0, 0);
	mi_free_size_aligned(p, 13, 64);
	took(p = mi_malloc(14), D, 14, 0, 0);
	note("free", 0, p, NULL, D, 0, 0);
	free(p);
	took(p = malloc(15), D, 15, 0, 0);
	drop(p, D);
}

/* The same with a heap 'h', whose number is 'n'. */
static void
use_heap(void *h, unsigned n)
{
	void *p = NULL;

	took_and_drop(mi_heap_malloc(h, 200), n, 200, 0, 0);
	took_and_drop(mi_heap_malloc(h, LARGE), n, LARGE, 0, 0);
	took_and_drop(mi_heap_zalloc(h, 201), n, 201, 0, 1);
	took_and_drop(mi_heap_calloc(h, 2, 101), n, 202, 0, 1);
	took_and_drop(mi_heap_mallocn(h, 2, 102), n, 204, 0, 0);
	took_and_drop(mi_heap_malloc_small(h, 205), n, 205, 0, 0);
	took_and_drop(mi_heap_malloc_aligned(h, 206, 64), n, 206, 64, 0);
	took_and_drop(mi_heap_zalloc_aligned(h, 207, 64), n, 207, 64, 1);
	took_and_drop(mi_heap_calloc_aligned(h, 2, 104, 64), n, 208, 64, 1);
	took_and_drop(mi_heap_malloc_aligned_at(h, 209, 64, 8), n, 209, 0, 0);
	took_and_drop(mi_heap_zalloc_aligned_at(h, 210, 64, 8), n, 210, 0, 1);
	took_and_drop(mi_heap_calloc_aligned_at(h, 2, 106, 64, 8), n, 212, 0,
		      1);
	took_and_drop(mi_heap_alloc_new(h, 213), n, 213, 0, 0);
	took_and_drop(mi_heap_alloc_new_n(h, 2, 107), n, 214, 0, 0);
	took_and_drop(mi_heap_strdup(h, "seven"), n, 6, 0, 0);
	took_and_drop(mi_heap_strndup(h, "seven", 3), n, 4, 0, 0);
	note_realpath();
	took_and_drop(mi_heap_realpath(h, "/", NULL), n, 2, 0, 0);
	p = changed(mi_heap_realloc(h, p, 40), p, n, 40);
	p = changed(mi_heap_realloc(h, p, 39), p, n, 39);
	p = changed(mi_heap_realloc(h, p, 4000), p, n, 4000);
	p = changed(mi_heap_realloc(h, p, LARGE), p, n, LARGE);
	p = changed(mi_heap_reallocn(h, p, 3, 50), p, n, 150);
	p = changed(mi_heap_realloc_aligned(h, p, 640, 64), p, n, 640);
	p = changed(mi_heap_realloc_aligned_at(h, p, 6400, 64, 8), p, n, 6400);
	p = changed(mi_heap_reallocf(h, p, 70), p, n, 70);
	note("reallocFree", 0, NULL, p, n, 0, 0);
	note("free", 0, p, NULL, n, 0, 0);
	if (mi_heap_reallocf(h, p, LARGE) != NULL)
		abort();
	p = NULL;
	p = changed(mi_heap_rezalloc(h, p, 50), p, n, 50);
	p = changed(mi_heap_recalloc(h, p, 5, 100), p, n, 500);
	p = changed(mi_heap_rezalloc_aligned(h, p, 1000, 64), p, n, 1000);
	p = changed(mi_heap_rezalloc_aligned_at(h, p, 3000, 64, 8), p, n, 3000);
	p = changed(mi_heap_recalloc_aligned(h, p, 3, 3000, 64), p, n, 9000);
	p = changed(mi_heap_recalloc_aligned_at(h, p, 3, 9000, 64, 8), p, n,
		    27000);
	note("free", 0, p, NULL, n, 0, 0);
	free(p);
}

/* A realloc from one heap into another. */
static void
cross(void *h, unsigned n)
{
	void *p, *q;

	/* From one of these heaps into malloc's, by any function. */
	for (int i = 0; i < 2; i++) {
		took(p = mi_heap_malloc(h, 50), n, 50, 0, 0);
		q = i == 0 ? mi_realloc(p, 5000) : realloc(p, 5000);
		note("reallocFree", 0, NULL, p, n, 0, 0);
		note("free", 0, p, NULL, n, 0, 0);
		took(q, 0, 5000, 0, 0);
		drop(q, 0);
	}
	/* The block stays in place, or the call fails. */
	took(p = mi_heap_malloc(h, 50), n, 50, 0, 0);
	p = changed(mi_realloc(p, 49), p, n, 49);
	p = changed(mi_realloc(p, LARGE), p, n, LARGE);
	drop(p, n);
	/* From malloc's heap into this one. */
	took(p = malloc(60), 0, 60, 0, 0);
	p = changed(mi_heap_realloc(h, p, 59), p, 0, 59);
	p = changed(mi_heap_realloc(h, p, LARGE), p, 0, LARGE);
	q = mi_heap_realloc(h, p, 6000);
	note("reallocFree", 0, NULL, p, 0, 0, 0);
	note("free", 0, p, NULL, 0, 0, 0);
	took(q, n, 6000, 0, 0);
	drop(q, n);
}

static void
heaps(void)
{
	void *const first = mi_heap_new(), *const second = mi_heap_new();
	void *const third = mi_heap_new_in_arena(0);
	void *const fourth = mi_heap_new();
	void *old, *p, *q, *kept[3];

	for (unsigned i = 1; i <= 4; i++)
		note("createHeap", 0, NULL, NULL, i, 0, 0);
	use_heap(first, 1);
	use_heap(second, 2);
	use_heap(third, 3);
	use_heap(mi_heap_get_backing(), 0);
	cross(first, 1);
	took_and_drop(malloc(22), 0, 22, 0, 0);
	/* A default heap, also for malloc(). */
	old = mi_heap_set_default(second);
	D = 2;
	take_each();
	change_each();
	drop_each();
	took(p = malloc(31), 2, 31, 0, 0);
	took(calloc(2, 16), 2, 32, 0, 1);
	took(memalign(64, 33), 2, 33, 64, 0);
	took(aligned_alloc(64, 64), 2, 64, 64, 0);
	if (posix_memalign(&q, 64, 34) == 0)
		took(q, 2, 34, 64, 0);
	p = changed(realloc(p, 3100), p, 2, 3100);
	p = changed(reallocarray(p, 31, 1000), p, 2, 31000);
	mi_heap_set_default(old);
	D = 0;
	mi_heap_destroy(second);
	note("destroyHeap", 0, NULL, NULL, 2, 0, 0);
	/* Blocks that outlive their heap, and a heap without blocks. */
	for (int i = 0; i < 3; i++)
		took(kept[i] = mi_heap_malloc(third, 70), 3, 70, 0, 0);
	mi_heap_delete(third);
	mi_heap_delete(first);
	note("destroyHeap", 0, NULL, NULL, 1, 0, 0);
	drop(kept[0], 3);
	note("free", 0, kept[1], NULL, 3, 0, 0);
	free(kept[1]);
	q = mi_realloc(kept[2], 7000);
	note("reallocFree", 0, NULL, kept[2], 3, 0, 0);
	note("free", 0, kept[2], NULL, 3, 0, 0);
	took(q, 0, 7000, 0, 0);
	note("destroyHeap", 0, NULL, NULL, 3, 0, 0);
	drop(q, 0);
	took(mi_heap_malloc(fourth, 80), 4, 80, 0, 0);
}

/* Each thread allocates from its own heaps and frees blocks of others. */
static _Atomic(void *) slots[64];

static void *
work(void *number)
{
	unsigned seed = (unsigned)(size_t)number;
	void *h = mi_heap_new();

	for (int i = 0; i < 30 * N; i++) {
		_Atomic(void *) *const slot = &slots[rand_r(&seed) % 64];
		const size_t size = 1 + (size_t)rand_r(&seed) % 2000;
		void *p = atomic_exchange(slot, NULL);

		switch (rand_r(&seed) % 4) {
		case 0:
			p = mi_realloc(p, size);
			break;
		case 1:
			p = mi_heap_realloc(h, p, size);
			break;
		case 2:
			free(p);
			p = mi_malloc(size);
			break;
		default:
			mi_free(p);
			p = mi_heap_malloc(h, size);
		}
		free(atomic_exchange(slot, p));
		if (i % N == N - 1) {
			mi_heap_delete(h);
			h = mi_heap_new();
		}
	}
	/* The last heap ends with the thread. */
	return NULL;
}

static void
threads(void)
{
	pthread_t t[4];

	for (size_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (size_t i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	for (size_t i = 0; i < 64; i++)
		mi_free(slots[i]);
}

static void
forks(void)
{
	void *const h = mi_heap_new();
	void *const p = mi_heap_malloc(h, 100);
	const pid_t child = fork();

	mi_free(p);
	mi_heap_malloc(h, 200);
	mi_heap_destroy(h);
	if (child == 0)
		exit(0);
	waitpid(child, NULL, 0);
}

int
main(int argc, char **argv)
{
	const char *const what = argc > 1 ? argv[1] : "";

	free(malloc(BEGIN));
	if (strcmp(what, "each") == 0) {
		take_each();
		change_each();
		drop_each();
	} else if (strcmp(what, "heaps") == 0) {
		heaps();
	} else if (strcmp(what, "threads") == 0) {
		threads();
	} else if (strcmp(what, "fork") == 0) {
		forks();
	}
	free(malloc(END));
	notes_print();
	return 0;
}
