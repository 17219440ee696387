/* SPDX-License-Identifier: MIT */
/*
 * callers.c - allocate on call paths that the sizes identify
 *
 * callers [ROUNDS [THREADS [fork]]]: each path allocates a size of its own;
 * recorded_stacks.py knows them.
 */
#include <pthread.h>
#include <stdlib.h>
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
	pthread_t thread[8];

	if (argc > 3 && fork() == 0) {
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
