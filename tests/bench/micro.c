/* SPDX-License-Identifier: MIT */
/*
 * micro.c - what one heap event costs, in ns
 *
 *   micro pairs|mix THREADS MILLIONS
 *
 * Each thread makes MILLIONS of millions of events, half of them frees.  'pairs':
 * malloc(64) and free of it, glibc's fastest path.  'mix': 1000 live objects per
 * thread, each step frees a random one and allocates 16 to 1024 bytes.  Prints
 * ns an event: wall time divided by the events of one thread, so that two
 * threads that do not disturb each other show the figure of one.
 *
 * The program touches each block, as a program that asks for memory does.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE_COUNT  1000
#define THREADS_MAX 64

static uint64_t event_count;
static bool mix;
static pthread_barrier_t start_line;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void *
touched(size_t nbytes)
{
	void *const p = malloc(nbytes);

	if (p == NULL)
		abort();
	*(volatile char *)p = 1;
	return p;
}

static void
run_pairs(void)
{
	for (uint64_t i = 0; i < event_count; i += 2)
		free(touched(64));
}

static void
run_mix(uint64_t seed)
{
	void *live[LIVE_COUNT] = { NULL };

	for (uint64_t i = 0; i < event_count; i += 2) {
		/* xorshift64: cheap against the event it stands beside. */
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;

		void **const slot = &live[(seed >> 32) % LIVE_COUNT];

		free(*slot);
		*slot = touched(16 + seed % 1009);
	}
	for (size_t i = 0; i < LIVE_COUNT; i++)
		free(live[i]);
}

static void *
thread_main(void *argument)
{
	pthread_barrier_wait(&start_line);
	if (mix)
		run_mix(88172645463325252u + (uintptr_t)argument);
	else
		run_pairs();
	return NULL;
}

/* With one thread there must be no second: glibc has paths for that case. */
static uint64_t
run_threads(unsigned thread_count)
{
	pthread_t threads[THREADS_MAX];

	pthread_barrier_init(&start_line, NULL, thread_count);
	for (uintptr_t i = 1; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, thread_main, (void *)i) !=
		    0)
			abort();

	const uint64_t start_ns = now_ns();

	thread_main(NULL);
	for (unsigned i = 1; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return now_ns() - start_ns;
}

int
main(int argc, char **argv)
{
	const unsigned long thread_count =
		argc == 4 ? strtoul(argv[2], NULL, 10) : 0;

	if (thread_count < 1 || thread_count > THREADS_MAX) {
		fprintf(stderr, "usage: micro pairs|mix THREADS MILLIONS\n");
		return 2;
	}
	mix = strcmp(argv[1], "mix") == 0;
	event_count = strtoul(argv[3], NULL, 10) * 1000000;
	printf("%.2f\n", (double)run_threads((unsigned)thread_count) /
				 (double)event_count);
	return 0;
}
