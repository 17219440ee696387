/* SPDX-License-Identifier: MIT */
/*
 * callers.c - allocate on call paths that the sizes identify
 *
 * callers [ROUNDS [THREADS [fork]]] | callers 0 0 ways: each path allocates a
 * size of its own; recorded_stacks.py knows them.  With "ways", there are 32768
 * paths.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

/* The asm after each call keeps the call from becoming a jump. */
#define PATH(name, value)                                 \
	static NOINLINE void *name(size_t size)           \
	{                                                 \
		void *p = value;                          \
		__asm__ volatile("" : "+r"(p)::"memory"); \
		return p;                                 \
	}

PATH(inner, malloc(size))
PATH(middle, inner(size))
PATH(outer, middle(size))
PATH(zeroed, calloc(1, size))
PATH(grown, realloc(inner(size), size + 1))

static NOINLINE void *
repeat(size_t size, int times)
{
	void *p = times > 0 ? repeat(size, times - 1) : malloc(size);

	__asm__ volatile("" : "+r"(p)::"memory");
	return p;
}

static NOINLINE void
drop(void *p)
{
	free(p);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void
round_trip(void)
{
	drop(inner(1001));
	drop(middle(1002));
	drop(outer(1003));
	drop(zeroed(1004));
	drop(grown(1005));
	drop(repeat(1007, 40));
	drop(repeat(1008, 1000));
	__asm__ volatile("" ::: "memory");
}

#define WAYS_BITS 15u

static void *right(size_t way, unsigned depth);

/* At each depth, a bit of 'way' decides which function is next. */
static NOINLINE void *
left(size_t way, unsigned depth)
{
	void *p = depth == 0		   ? malloc(way)
		  : way >> (depth - 1) & 1 ? right(way, depth - 1)
					   : left(way, depth - 1);

	__asm__ volatile("" : "+r"(p)::"memory");
	return p;
}

static NOINLINE void *
right(size_t way, unsigned depth)
{
	void *p = depth == 0		   ? malloc(way)
		  : way >> (depth - 1) & 1 ? right(way, depth - 1)
					   : left(way, depth - 1);

	/* unlike left() */
	__asm__ volatile("nop" : "+r"(p)::"memory");
	return p;
}

static NOINLINE void
run_ways(void)
{
	for (size_t way = 0; way < 1u << WAYS_BITS; way++)
		drop(left(1u << WAYS_BITS | way, WAYS_BITS));
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void *
run(void *argument)
{
	const int rounds = *(const int *)argument;

	for (int i = 0; i < rounds; i++)
		round_trip();
	__asm__ volatile("" ::: "memory");
	return NULL;
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	const int thread_count = argc > 2 ? atoi(argv[2]) : 0;
	const char *const mode = argc > 3 ? argv[3] : "";
	pthread_t thread[8];

	if (strcmp(mode, "ways") == 0)
		run_ways();
	if (strcmp(mode, "fork") == 0 && fork() == 0) {
		run(&rounds);
		return 0;
	}
	for (int i = 0; i < thread_count; i++)
		pthread_create(&thread[i], NULL, run, &rounds);
	run(&rounds);
	for (int i = 0; i < thread_count; i++)
		pthread_join(thread[i], NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}
