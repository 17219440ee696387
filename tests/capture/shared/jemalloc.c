/* SPDX-License-Identifier: MIT */
/*
 * jemalloc.c - a program that has arenas of its own
 *
 * usage: jemalloc each | work [SEED] | mixed [SEED] | fork | late
 *
 * With -DPREFIX=je_ it calls the functions of a jemalloc with this prefix, for
 * C's functions, too; with -DLATE it loads the library $JEMALLOC and finds its
 * functions by dlsym().
 *
 * "each" prints what the trace must have between two allocations of the sizes
 * BEGIN and END, one record on each line, heaps numbered in order of creation:
 *
 *	event TAG SIZE ADDRESS OLD HEAP ALIGNMENT ZEROED
 *
 * The others print jemalloc's own statistics of each arena at the end:
 *
 *	stat ARENA BLOCKS BYTES
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEGIN 7777001
#define END   7777002
#define N     1000

/* From <jemalloc/jemalloc.h>, which need not be installed. */
#define ARENA(a)     ((int)((a) + 1) << 20)
#define TCACHE(t)    ((int)((t) + 2) << 8)
#define TCACHE_NONE  TCACHE(-1)
#define LG_ALIGN(lg) (lg)
#define ZERO	     0x40
#define IN(a)	     (ARENA(a) | TCACHE_NONE)

#define FUNCTIONS(X)                                                      \
	X(void *, mallocx, (size_t, int))                                 \
	X(void *, rallocx, (void *, size_t, int))                         \
	X(size_t, xallocx, (void *, size_t, size_t, int))                 \
	X(size_t, sallocx, (const void *, int))                           \
	X(size_t, nallocx, (size_t, int))                                 \
	X(void, dallocx, (void *, int))                                   \
	X(void, sdallocx, (void *, size_t, int))                          \
	X(int, mallctl, (const char *, void *, size_t *, void *, size_t)) \
	X(int, mallctlnametomib, (const char *, size_t *, size_t *))      \
	X(int, mallctlbymib,                                              \
	  (const size_t *, size_t, void *, size_t *, void *, size_t))     \
	X(void *, malloc, (size_t))                                       \
	X(void *, calloc, (size_t, size_t))                               \
	X(void *, realloc, (void *, size_t))                              \
	X(void, free, (void *))                                           \
	X(int, posix_memalign, (void **, size_t, size_t))                 \
	X(void *, aligned_alloc, (size_t, size_t))                        \
	X(void *, memalign, (size_t, size_t))                             \
	X(void *, valloc, (size_t))

#define GLUE_(a, b) a##b
#define GLUE(a, b)  GLUE_(a, b)
#define TEXT_(a)    #a
#define TEXT(a)	    TEXT_(a)
#ifndef PREFIX
#define PREFIX
#endif

#ifdef LATE
#define DECLARE(type, name, params) static type(*je##name) params;
FUNCTIONS(DECLARE)
#define LOAD(type, name, params) \
	*(void **)&je##name = dlsym(library, TEXT(GLUE(PREFIX, name)));
#else
#define DECLARE(type, name, params) type GLUE(PREFIX, name) params;
#define SET(type, name, params) \
	static type(*const je##name) params = GLUE(PREFIX, name);
FUNCTIONS(DECLARE)
FUNCTIONS(SET)
#endif

static void
get_functions(void)
{
#ifdef LATE
	void *const library = dlopen(getenv("JEMALLOC"), RTLD_NOW);

	if (library == NULL) {
		fputs(dlerror(), stderr);
		exit(1);
	}
	FUNCTIONS(LOAD)
#endif
}

/* ------------------------------------- Notes of what the trace must have */

static char text[1 << 20];
static size_t text_used;

static void
note(const char *tag, size_t size, const void *address, const void *old,
     unsigned heap, size_t align, int zeroed)
{
	text_used += (size_t)snprintf(
		text + text_used, sizeof(text) - text_used,
		"event %s %zu 0x%zx 0x%zx %u %zu %d\n", tag, size,
		(size_t)address, (size_t)old, heap, align, zeroed);
	if (text_used >= sizeof(text))
		abort();
}

static void *
took(void *p, unsigned heap, size_t size, size_t align, int zeroed)
{
	note("alloc", size, p, NULL, heap, align, zeroed);
	return p;
}

/* 'p' will be freed. */
static void *
gives(void *p, unsigned heap)
{
	note("free", 0, p, NULL, heap, 0, 0);
	return p;
}

static void *
changed(void *p, void *old, unsigned heap, size_t size)
{
	if (p == NULL || p == old) {
		note("reallocNoAlloc", size, p, old, heap, 0, 0);
		return p == NULL ? old : p;
	}
	note("reallocAllocFree", size, p, old, heap, 0, 0);
	note("alloc", size, p, NULL, heap, 0, 0);
	note("free", 0, old, NULL, heap, 0, 0);
	return p;
}

static void *
moved(void *p, void *old, unsigned from, unsigned to, size_t size)
{
	if (p == old || p == NULL)
		abort();
	note("reallocFree", 0, NULL, old, from, 0, 0);
	note("free", 0, old, NULL, from, 0, 0);
	return took(p, to, size, 0, 0);
}

/* ------------------------------------------------- Questions to jemalloc */

static unsigned
create(void)
{
	unsigned arena = 0;
	size_t n = sizeof(arena);

	if (jemallctl("arenas.create", &arena, &n, NULL, 0) != 0)
		abort();
	return arena;
}

static unsigned
create_by_mib(void)
{
	unsigned arena = 0;
	size_t n = sizeof(arena), mib[2], count = 2;

	if (jemallctlnametomib("arenas.create", mib, &count) != 0 ||
	    jemallctlbymib(mib, count, &arena, &n, NULL, 0) != 0)
		abort();
	return arena;
}

/* 'how' is "destroy" or "reset". */
static int
end_all(unsigned arena, const char *how)
{
	char name[64];

	snprintf(name, sizeof(name), "arena.%u.%s", arena, how);
	return jemallctl(name, NULL, NULL, NULL, 0);
}

static int
end_all_by_mib(unsigned arena, const char *how)
{
	char name[64];
	size_t mib[3], count = 3;

	snprintf(name, sizeof(name), "arena.0.%s", how);
	if (jemallctlnametomib(name, mib, &count) != 0)
		abort();
	mib[1] = arena;
	return jemallctlbymib(mib, count, NULL, NULL, NULL, 0);
}

static unsigned
bind(unsigned arena)
{
	unsigned old;
	size_t n = sizeof(old);

	if (jemallctl("thread.arena", &old, &n, &arena, sizeof(arena)) != 0)
		abort();
	return old;
}

#define must(it) must_be(it, __LINE__)

static void
must_be(bool it, int line)
{
	if (it)
		return;
	fprintf(stderr, "line %d: not so\n", line);
	abort();
}

/* --------------------------------------------------------- Each function */

static void
each_plain(void)
{
	void *p;

	p = took(jemallocx(100, 0), 0, 100, 0, 0);
	p = changed(jerallocx(p, 5000, 0), p, 0, 5000);
	must(jexallocx(p, 5001, 0, 0) >= 5001);
	changed(p, p, 0, 5001);
	must(jexallocx(p, (size_t)1 << 40, 0, 0) < (size_t)1 << 40);
	changed(NULL, p, 0, (size_t)1 << 40);
	jesallocx(p, 0);
	jenallocx(17, 0);
	jedallocx(gives(p, 0), 0);
	p = took(jemallocx(200, LG_ALIGN(8) | ZERO), 0, 200, 256, 1);
	jesdallocx(gives(p, 0), 200, LG_ALIGN(8));
	p = took(jemallocx(300, ZERO), 0, 300, 0, 1);
	jefree(gives(p, 0));
	p = took(jemalloc(10), 0, 10, 0, 0);
	p = changed(jerealloc(p, 10000), p, 0, 10000);
	jedallocx(gives(p, 0), 0);
	jefree(gives(took(jecalloc(3, 7), 0, 21, 0, 1), 0));
}

/* Call each function for heap 'n', which is the arena 'a'. */
static void
each_in(unsigned a, unsigned n)
{
	void *p, *q;

	p = took(jemallocx(100, IN(a)), n, 100, 0, 0);
	p = changed(jerallocx(p, 5000, IN(a)), p, n, 5000);
	must(jexallocx(p, 5001, 0, TCACHE_NONE) >= 5001);
	changed(p, p, n, 5001);
	must(jexallocx(p, (size_t)1 << 40, 0, 0) < (size_t)1 << 40);
	changed(NULL, p, n, (size_t)1 << 40);
	must(jerallocx(p, (size_t)1 << 62, IN(a)) == NULL);
	changed(NULL, p, n, (size_t)1 << 62);
	jesallocx(p, 0);
	jedallocx(gives(p, n), TCACHE_NONE);
	p = took(jemallocx(200, IN(a) | LG_ALIGN(8) | ZERO), n, 200, 256, 1);
	jesdallocx(gives(p, n), 200, LG_ALIGN(8) | TCACHE_NONE);
	/* From malloc's heap into the arena, and back: small ones must move. */
	p = took(jemallocx(100, 0), 0, 100, 0, 0);
	q = p;
	p = moved(jerallocx(p, 3000, IN(a)), q, 0, n, 3000);
	q = p;
	p = moved(jerealloc(p, 300), q, n, 0, 300);
	jefree(gives(p, 0));
	/* C's free() and realloc() accept it, too. */
	p = took(jemallocx(20000, IN(a)), n, 20000, 0, 0);
	must(jerealloc(p, 20001) == p);
	changed(p, p, n, 20001);
	jefree(gives(p, n));
	must(jemallocx((size_t)1 << 62, IN(a)) == NULL);
	took(NULL, n, (size_t)1 << 62, 0, 0);
}

/* A cache hands out a block that belonged to another arena. */
static void
each_cached(unsigned a, unsigned n)
{
	void *p = took(jemallocx(1000, IN(a)), n, 1000, 0, 0), *q;

	jedallocx(gives(p, n), 0);
	q = jemalloc(1000);
	took(q, q == p ? n : 0, 1000, 0, 0);
	jefree(gives(q, q == p ? n : 0));
	must(jemallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0);
}

/* A thread whose malloc() allocates from the arena. */
static void
each_bound(unsigned a, unsigned n)
{
	const unsigned old = bind(a);
	void *p, *q;

	p = took(jemalloc(20000), n, 20000, 0, 0);
	p = changed(jerealloc(p, 40000), p, n, 40000);
	jefree(gives(p, n));
	jefree(gives(took(jecalloc(2, 10000), n, 20000, 0, 1), n));
	must(jeposix_memalign(&q, 4096, 20000) == 0);
	jefree(gives(took(q, n, 20000, 4096, 0), n));
	q = jealigned_alloc(4096, 20480);
	jefree(gives(took(q, n, 20480, 4096, 0), n));
	q = jememalign(8192, 20480);
	jefree(gives(took(q, n, 20480, 8192, 0), n));
	q = jevalloc(20480);
	jefree(gives(took(q, n, 20480, (size_t)sysconf(_SC_PAGESIZE), 0), n));
	jedallocx(gives(took(jemallocx(20001, 0), n, 20001, 0, 0), n), 0);
	/* The arena must not be destroyed now. */
	p = took(jemallocx(30000, IN(a)), n, 30000, 0, 0);
	jedallocx(gives(p, n), TCACHE_NONE);
	bind(old);
	must(jemallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0);
}

static void
each(void)
{
	const unsigned a = create(), b = create_by_mib();
	unsigned c, old;
	void *p, *q;

	note("createHeap", 0, NULL, NULL, 1, 0, 0);
	note("createHeap", 0, NULL, NULL, 2, 0, 0);
	each_plain();
	each_in(a, 1);
	each_in(b, 2);
	each_cached(a, 1);
	each_bound(a, 1);
	/* Move a block from one arena to the other. */
	p = took(jemallocx(100, IN(a)), 1, 100, 0, 0);
	q = p;
	p = moved(jerallocx(p, 3000, IN(b)), q, 1, 2, 3000);
	jedallocx(gives(p, 2), TCACHE_NONE);
	/* Free all blocks at once; first refused, then done. */
	p = took(jemallocx(20000, IN(a)), 1, 20000, 0, 0);
	must(jemallctl("arena.0.reset", NULL, NULL, NULL, 0) != 0);
	must(end_all(4095, "reset") != 0);
	must(end_all(a, "reset") == 0);
	gives(p, 1);
	took(jemallocx(20000, IN(a)), 1, 20000, 0, 0);
	must(end_all(a, "destroy") == 0);
	note("destroyHeap", 0, NULL, NULL, 1, 0, 0);
	must(end_all(a, "destroy") != 0);
	p = took(jemallocx(20000, IN(b)), 2, 20000, 0, 0);
	must(end_all_by_mib(b, "reset") == 0);
	gives(p, 2);
	must(end_all_by_mib(b, "destroy") == 0);
	note("destroyHeap", 0, NULL, NULL, 2, 0, 0);
	/* The arena's number is used again, but the heap is a new one. */
	c = create();
	note("createHeap", 0, NULL, NULL, 3, 0, 0);
	p = took(jemallocx(20000, IN(c)), 3, 20000, 0, 0);
	old = bind(c);
	must(end_all(c, "destroy") != 0);
	note("destroyHeap", 0, NULL, NULL, 3, 0, 0);
	note("createHeap", 0, NULL, NULL, 4, 0, 0);
	took(p, 4, 20000, 0, 0);
	bind(old);
	must(end_all(c, "destroy") == 0);
	note("destroyHeap", 0, NULL, NULL, 4, 0, 0);
}

/* ----------------------------------------------------------- Random work */

#define THREADS 4
#define ARENAS	5
#define SLOTS	200

static unsigned arenas[ARENAS];
static pthread_barrier_t barrier;
static bool is_mixed; /* a cached block goes anywhere */

/* Sizes that jemalloc does not round up. */
static size_t
random_size(unsigned *seed)
{
	static const size_t size[] = { 8,   16,	  48,	64,    128,   256,
				       512, 1024, 4096, 16384, 32768, 131072 };

	return size[(unsigned)rand_r(seed) % (sizeof(size) / sizeof(size[0]))];
}

static int
random_flags(unsigned *seed)
{
	const unsigned n = (unsigned)rand_r(seed) % (ARENAS + 1);

	if (n == ARENAS)
		return 0;
	return ARENA(arenas[n]) |
	       (is_mixed && rand_r(seed) % 2 ? 0 : TCACHE_NONE);
}

static void *
step(void *p, unsigned *seed)
{
	const size_t size = random_size(seed);
	const int flags = random_flags(seed);

	switch (rand_r(seed) % 8) {
	case 0:
		return p != NULL ? jerallocx(p, size, flags) : p;
	case 1:
		return is_mixed ? jerealloc(p, size) : p;
	case 2:
		/* jemalloc may leave a larger block as it is. */
		if (p != NULL && size > jesallocx(p, 0))
			jexallocx(p, size, 0, flags);
		return p;
	case 3:
		if (p != NULL)
			jesdallocx(p, jesallocx(p, 0), TCACHE_NONE);
		return NULL;
	default:
		if (p != NULL && is_mixed)
			jefree(p);
		else if (p != NULL)
			jedallocx(p, TCACHE_NONE);
		return rand_r(seed) % 4 == 0 && is_mixed
			       ? jemalloc(size)
			       : jemallocx(size, flags);
	}
}

static void
flush(void)
{
	must(jemallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0);
}

static void *
work(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument;
	const unsigned number = seed % THREADS;
	void *slot[SLOTS] = { NULL };

	if (number == 1)
		bind(arenas[1]);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 5 * N; i++) {
			void **const at = &slot[rand_r(&seed) % SLOTS];

			*at = step(*at, &seed);
		}
		/*
		 * No thread has a block of the last arena when it is emptied.
		 */
		flush();
		for (int i = 0; i < SLOTS; i++) {
			if (rand_r(&seed) % 2 == 0 || round == 3)
				continue;
			if (slot[i] != NULL)
				jedallocx(slot[i], TCACHE_NONE);
			slot[i] = NULL;
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void
print_stats(unsigned arena)
{
	static const char *const names[] = {
		"small.nmalloc", "large.nmalloc",   "small.ndalloc",
		"large.ndalloc", "small.allocated", "large.allocated"
	};
	uint64_t epoch = 1, value[6] = { 0 };
	size_t n = sizeof(value[0]);
	char name[64];

	must(jemallctl("epoch", NULL, NULL, &epoch, sizeof(epoch)) == 0);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "stats.arenas.%u.%s", arena,
			 names[i]);
		must(jemallctl(name, &value[i], &n, NULL, 0) == 0);
	}
	printf("stat %u %zu %zu\n", arena,
	       (size_t)(value[0] + value[1] - value[2] - value[3]),
	       (size_t)(value[4] + value[5]));
}

static void
make_arenas(void)
{
	for (int i = 0; i < ARENAS; i++)
		arenas[i] = i % 2 ? create_by_mib() : create();
}

static void
work_all(unsigned seed)
{
	pthread_t t[THREADS];

	make_arenas();
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)(seed * THREADS + i));
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	flush();
	/* One arena is empty at the end, and another is gone. */
	must(end_all(arenas[3], "reset") == 0);
	must(end_all(arenas[4], "destroy") == 0);
	for (int i = 0; i < ARENAS - 1; i++)
		print_stats(arenas[i]);
}

static void
handler(void)
{
	jefree(jemalloc(77));
}

/* Parent and child use an arena that the parent has made. */
static void
forks(void)
{
	unsigned a;
	void *p, *q;
	pid_t child;

	pthread_atfork(handler, handler, handler);
	a = create();
	p = jemallocx(1000, IN(a));
	q = jemallocx(2000, IN(a));
	child = fork();
	jedallocx(p, TCACHE_NONE);
	jemallocx(3000, IN(a));
	if (child == 0) {
		must(end_all(a, "reset") == 0);
		jemallocx(4000, IN(a));
	} else {
		q = jerallocx(q, 50000, IN(a));
	}
	must(end_all(a, "destroy") == 0);
	if (child == 0)
		exit(0);
	waitpid(child, NULL, 0);
}

/* An arena exists before recording starts. */
static void
started_late(void)
{
	unsigned a = create(), b;
	void *p = jemallocx(1000, IN(a)), *q;
	char c;

	puts("ready");
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		abort();
	b = create();
	q = jemallocx(4096, IN(a));
	jemallocx(4096, IN(b));
	p = jerallocx(p, 32768, IN(a));
	jedallocx(q, TCACHE_NONE);
	jemallocx(64, IN(a));
	flush();
	print_stats(a);
	print_stats(b);
}

int
main(int argc, char **argv)
{
	const char *const what = argc > 1 ? argv[1] : "";
	const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

	get_functions();
	free(malloc(BEGIN));
	if (strcmp(what, "each") == 0) {
		each();
	} else if (strcmp(what, "work") == 0) {
		work_all(seed);
	} else if (strcmp(what, "mixed") == 0) {
		is_mixed = true;
		work_all(seed);
	} else if (strcmp(what, "fork") == 0) {
		forks();
	} else if (strcmp(what, "late") == 0) {
		started_late();
	}
	free(malloc(END));
	fputs(text, stdout);
	return 0;
}
