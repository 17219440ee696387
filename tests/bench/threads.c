/* SPDX-License-Identifier: MIT */
/*
 * threads.c - what the birth and the death of a thread cost
 *
 *   threads THREADS AT-ONCE PAIRS
 *
 * Makes THREADS threads, AT-ONCE at a time, which are joined before the next
 * ones start.  Each one makes PAIRS pairs of malloc and free.  Prints wall time
 * and CPU time of the process, in ns per thread, from the first birth to the
 * last death.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define AT_ONCE_MAX 1024

static unsigned pairs;

static uint64_t
wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void *
live_shortly(void *unused)
{
	for (unsigned i = 0; i < pairs; i++) {
		void *volatile p = malloc(16 + i % 200);

		free(p);
	}
	return unused;
}

static void
run(unsigned threads, unsigned at_once)
{
	pthread_t ids[AT_ONCE_MAX];

	for (unsigned made = 0; made < threads; made += at_once) {
		for (unsigned i = 0; i < at_once; i++)
			if (pthread_create(&ids[i], NULL, live_shortly, NULL) !=
			    0)
				exit(1);
		for (unsigned i = 0; i < at_once; i++)
			pthread_join(ids[i], NULL);
	}
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		return 2;

	const unsigned threads = (unsigned)atoi(argv[1]);
	const unsigned at_once = (unsigned)atoi(argv[2]);

	if (threads == 0 || at_once == 0 || at_once > AT_ONCE_MAX)
		return 2;
	pairs = (unsigned)atoi(argv[3]);

	const uint64_t wall = wall_ns(), cpu = cpu_ns();

	run(threads, at_once);
	printf("%.0f %.0f\n", (double)(wall_ns() - wall) / threads,
	       (double)(cpu_ns() - cpu) / threads);
	return 0;
}
