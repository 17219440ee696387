/* SPDX-License-Identifier: MIT */
/*
 * steer.c - threads that allocate, resize and pass on blocks for some seconds
 *
 * usage: steer THREADS SECONDS [PAUSE]
 *
 * Blocks circulate through slots that all threads share, so that most are freed
 * or resized by another thread than the one that made them.  Threads come and
 * go.  PAUSE is the pause after each 100 steps, in microseconds.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 512

static _Atomic(void *) slots[SLOTS];
static atomic_bool over;
static unsigned pause_us;

static void
step(unsigned *seed)
{
	_Atomic(void *) *const slot = &slots[rand_r(seed) % SLOTS];
	const size_t size = 8 + rand_r(seed) % 600;
	void *p;

	switch (rand_r(seed) % 8) {
	case 0:
		p = realloc(atomic_exchange(slot, NULL), size);
		break;
	case 1:
		p = calloc(1, size);
		break;
	case 2:
		p = aligned_alloc(64, (size + 63) / 64 * 64);
		break;
	case 3:
		free(atomic_exchange(slot, NULL));
		return;
	default:
		p = malloc(size);
	}
	if (p == NULL)
		_exit(3);
	memset(p, 1, 8);
	free(atomic_exchange(slot, p));
}

static void *
briefly(void *unused)
{
	unsigned seed = (unsigned)(uintptr_t)&seed;

	(void)unused;
	for (int i = 0; i < 100; i++)
		step(&seed);
	return NULL;
}

static void *
work(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number;
	pthread_t other;

	for (unsigned i = 1; !atomic_load(&over); i++) {
		step(&seed);
		if (i % 100 == 0 && pause_us != 0)
			usleep(pause_us);
		if (i % 20000 == 0 &&
		    pthread_create(&other, NULL, briefly, NULL) == 0)
			pthread_join(other, NULL);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 4;
	const double seconds = argc > 2 ? atof(argv[2]) : 1;
	const struct timespec ts = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};
	pthread_t threads[64];

	pause_us = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&threads[i], NULL, work,
			       (void *)(uintptr_t)(i + 1));
	nanosleep(&ts, NULL);
	atomic_store(&over, true);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		free(slots[i]);
	puts("done");
	return 0;
}
