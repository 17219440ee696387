/* SPDX-License-Identifier: MIT */
/*
 * forkers.c - six threads fork all the time while one allocates
 *
 * They do so for four seconds; each child frees some inherited blocks and makes
 * new ones.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY (100ul << 20)

static void *kept[200];
static atomic_bool stop;

static void *
fork_all_the_time(void *unused)
{
	pid_t last = -1;

	/* The next fork begins before the last one is complete. */
	while (!atomic_load(&stop)) {
		const pid_t child = fork();

		if (child == 0) {
			for (int i = 0; i < 200; i++) {
				free(kept[i]);
				kept[i] = malloc(50);
			}
			_exit(0);
		}
		if (child < 0 || (last > 0 && waitpid(last, NULL, 0) != last))
			abort();
		last = child;
	}
	waitpid(last, NULL, 0);
	return unused;
}

static void *
allocate(void *unused)
{
	void *slots[64] = { NULL };
	unsigned seed = 1;

	while (!atomic_load(&stop)) {
		for (int i = 0; i < 500; i++) {
			seed = seed * 1103515245 + 12345;
			free(slots[seed >> 16 & 63]);
			slots[seed >> 16 & 63] = malloc(seed >> 8 & 4095);
		}
		usleep(1000);
	}
	for (int i = 0; i < 64; i++)
		free(slots[i]);
	return unused;
}

int
main(void)
{
	pthread_t threads[7];

	/* The more memory there is to copy, the longer a fork takes. */
	memset(malloc(MEMORY), 1, MEMORY);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		kept[i] = malloc(100);
	for (int i = 0; i < 7; i++)
		if (pthread_create(&threads[i], NULL,
				   i == 6 ? allocate : fork_all_the_time,
				   NULL) != 0)
			return 1;
	sleep(4);
	atomic_store(&stop, 1);
	for (int i = 0; i < 7; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}
