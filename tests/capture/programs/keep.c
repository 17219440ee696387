/* SPDX-License-Identifier: MIT */
/*
 * keep.c - keeps blocks that different functions and threads have allocated
 *
 * The initial thread keeps KEPT blocks and a block that it has resized twice.
 * The thread "keeper" keeps KEPT blocks and waits, another thread keeps KEPT
 * blocks and ends.  Then the program prints "ready" and waits for the end of
 * its standard input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEPT 100

static void *blocks[3][KEPT];
static char *resized;
static pthread_barrier_t ready;

__attribute__((noipa)) static void
keep_first(void)
{
	for (int i = 0; i < KEPT; i++)
		blocks[0][i] = malloc(48);
}

__attribute__((noipa)) static void
keep_second(void)
{
	for (int i = 0; i < KEPT; i++)
		blocks[1][i] = malloc(2000);
}

__attribute__((noipa)) static void
keep_third(void)
{
	for (int i = 0; i < KEPT; i++)
		blocks[2][i] = malloc(300);
}

__attribute__((noipa)) static void
keep_nothing(void)
{
	for (int i = 0; i < KEPT; i++)
		free(malloc(80 + (size_t)i));
}

__attribute__((noipa)) static void
begin_small(void)
{
	resized = malloc(100);
}

__attribute__((noipa)) static void
grow(void)
{
	resized = realloc(resized, 200000);
	resized = realloc(resized, 300000);
}

static void *
stay(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "keeper");
	keep_second();
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return NULL;
}

static void *
leave(void *unused)
{
	keep_third();
	return unused;
}

int
main(void)
{
	pthread_t keeper, other;
	char c;

	pthread_barrier_init(&ready, NULL, 2);
	keep_first();
	begin_small();
	keep_nothing();
	grow();
	pthread_create(&keeper, NULL, stay, NULL);
	pthread_create(&other, NULL, leave, NULL);
	pthread_join(other, NULL);
	pthread_barrier_wait(&ready);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	while (read(STDIN_FILENO, &c, 1) > 0)
		continue;
	return 0;
}
