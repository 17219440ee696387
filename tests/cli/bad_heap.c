/* SPDX-License-Identifier: MIT */
/*
 * bad_heap.c - an allocator to preload that misbehaves as $BAD_HEAP says
 *
 * It is glibc's, except that malloc(301) and what BAD_HEAP names go wrong.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAD_NBYTES 301

extern void *__libc_malloc(size_t nbytes);
extern void *__libc_calloc(size_t count, size_t nbytes);
extern void *__libc_realloc(void *p, size_t nbytes);
extern void *__libc_memalign(size_t alignment, size_t nbytes);
extern void __libc_free(void *p);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static _Alignas(64) char area[1 << 22];
static size_t area_used;

static int
is(const char *what)
{
	const char *const text = getenv("BAD_HEAP");

	return text != NULL && strcmp(text, what) == 0;
}

static void
close_all(void)
{
	for (int i = 3; i < 100; i++)
		close(i);
}

/* Overwrite all writable mappings whose line has 'what'. */
static void
scribble(const char *what)
{
	static char line[4096];
	FILE *const f = fopen("/proc/self/maps", "re");
	unsigned long begin, end;

	/* The file's buffer is in the heap, which is not overwritten. */
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, "rw-") != NULL && strstr(line, what) != NULL &&
		    sscanf(line, "%lx-%lx", &begin, &end) == 2)
			memset((void *)begin, 'A', end - begin);
}

static void
wait_for_ever(void *p)
{
	(void)p;
	for (;;)
		pause();
}

__attribute__((constructor)) static void
begin(void)
{
	pthread_key_create(&key, wait_for_ever);
	if (is("start"))
		wait_for_ever(NULL);
	if (is("stop at the start"))
		raise(SIGSTOP);
	if (is("close at the start"))
		close_all();
}

/* malloc(BAD_NBYTES) */
static void *
go_wrong(void)
{
	if (is("loop"))
		for (volatile int i = 0;; i++)
			;
	if (is("deadlock"))
		for (;;)
			pthread_mutex_lock(&lock);
	if (is("stop"))
		raise(SIGSTOP);
	if (is("read a terminal"))
		raise(SIGTTIN);
	if (is("slow"))
		usleep(300000);
	if (is("exit"))
		exit(0);
	if (is("close"))
		close_all();
	if (is("fork") && fork() == 0)
		wait_for_ever(NULL);
	/* Now two processes make the calls. */
	if (is("fork on") && fork() < 0)
		abort();
	/* The thread that makes this call never ends. */
	if (is("thread end"))
		pthread_setspecific(key, area);
	if (is("print") && write(1, "a line\n", 7) < 0)
		abort();
	if (is("shared memory"))
		scribble("memfd:");
	/* Take 0.1 s of processor time. */
	if (is("spin"))
		for (const clock_t begin = clock();
		     clock() - begin < CLOCKS_PER_SEC / 10;)
			;
	if (is("no memory"))
		return NULL;
	return __libc_malloc(BAD_NBYTES);
}

void *
malloc(size_t nbytes)
{
	/* The loader needs larger blocks. */
	if (is("null") && nbytes <= BAD_NBYTES)
		return NULL;
	if (is("same") && nbytes <= sizeof(area))
		return area;
	/* The blocks are 16 bytes apart. */
	if (is("overlap") && area_used + nbytes <= sizeof(area))
		return area + (area_used += 16);
	if (is("odd"))
		return (char *)__libc_malloc(nbytes + 1) + 1;
	return nbytes == BAD_NBYTES ? go_wrong() : __libc_malloc(nbytes);
}

void *
calloc(size_t count, size_t nbytes)
{
	return __libc_calloc(count, nbytes);
}

void *
realloc(void *p, size_t nbytes)
{
	return __libc_realloc(p, nbytes);
}

void *
memalign(size_t alignment, size_t nbytes)
{
	return __libc_memalign(alignment, nbytes);
}

void
free(void *p)
{
	if (is("free"))
		wait_for_ever(NULL);
	if (!is("same") && !is("overlap") && !is("odd"))
		__libc_free(p);
}
