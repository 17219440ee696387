/* SPDX-License-Identifier: MIT */
/*
 * pauses.c - threads that allocate after long pauses
 *
 * One thread passes blocks to another, which frees them after a pause without
 * events, and a third thread then gets the same addresses.  Prints how long all
 * of this took, in microseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	 4
#define BLOCKS	 8
#define PAUSE_US 150000

static pthread_barrier_t turn;
static void *blocks[BLOCKS];

static void *
free_late(void *unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&turn); /* they have been allocated */
		usleep(PAUSE_US);
		for (int i = 0; i < BLOCKS; i++)
			free(blocks[i]);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static void *
allocate(void *unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		/* The same with blocks too large for a thread's cache. */
		for (int i = 0; i < BLOCKS; i++)
			blocks[i] = malloc(3000);
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static long
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int
main(void)
{
	const long start = now_us();
	pthread_t a, b;

	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&a, NULL, allocate, NULL);
	pthread_create(&b, NULL, free_late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	free(malloc(1));
	printf("%ld\n", now_us() - start);
	return 0;
}
