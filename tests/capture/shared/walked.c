/* SPDX-License-Identifier: MIT */
/*
 * walked.c - one half of a program whose halves call each other
 *
 * The test compiles it twice, with and without frame pointers, as HERE and
 * THERE; the half with MAIN begins.  walked ROUNDS.
 */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

void HERE(int depth, int kind);
void THERE(int depth, int kind);

static NOINLINE void *
allocate(size_t nbytes)
{
	void *p = malloc(nbytes);

	__asm__ volatile("" : "+r"(p)::"memory");
	return realloc(p, 2 * nbytes);
}

/* The stack pointer moves while its caller's frame is open. */
static NOINLINE void
with_alloca(int depth, int kind)
{
	char *volatile room = alloca((size_t)(16 + depth * 8));

	room[0] = 1;
	THERE(depth - 1, kind);
	free(allocate((size_t)room[0]));
}

/* The frame is aligned to more than a call aligns it. */
static NOINLINE void
with_alignment(int depth, int kind)
{
	volatile char room[64] __attribute__((aligned(64)));

	room[depth % 64] = 1;
	THERE(depth - 1, kind);
	free(allocate((size_t)room[depth % 64]));
}

/* Many arguments go over the stack. */
static NOINLINE long
with_arguments(long a, long b, long c, long d, long e, long f, long g, long h)
{
	THERE((int)h - 1, (int)g);
	free(allocate((size_t)(a + b + 10)));
	return a + b + c + d + e + f;
}

static int
compare(const void *a, const void *b)
{
	free(allocate(20));
	return memcmp(a, b, 1);
}

void
HERE(int depth, int kind)
{
	char letters[] = "the quick brown fox";
	void *p = allocate((size_t)depth + 30);

	if (depth <= 0)
		qsort(letters, sizeof(letters) - 1, 1, compare);
	else if (kind % 4 == 0)
		with_alloca(depth, kind / 2);
	else if (kind % 4 == 1)
		with_alignment(depth, kind / 2);
	else if (kind % 4 == 2)
		with_arguments(depth, 1, 2, 3, 4, 5, kind / 2, depth);
	else
		THERE(depth - 1, kind / 2); /* may be a jump */
	free(p);
}

#ifdef MAIN
int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 100;

	for (int i = 0; i < rounds; i++)
		HERE(i % 40, i);
	return 0;
}
#endif
