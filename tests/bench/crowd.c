/* SPDX-License-Identifier: MIT */
/*
 * crowd.c - threads that do nothing but allocate and free
 *
 *   crowd KIND THREADS OPERATIONS [PAUSE]
 *
 * KIND is 'own', 'larson' or 'passed'.  Prints the operations of all threads
 * (an operation is a free and a malloc) per microsecond of wall time.
 *
 * own     Each thread replaces random blocks, of 16 to 1023 bytes, in an array
 *         of 1000 of its own.
 * larson  Described by Larson and Krishnan (ISMM 1998): a thread replaces
 *         random blocks in its array, and hands the array to a new thread,
 *         which therefore frees its predecessor's blocks.
 * passed  The threads form a ring.  Each fills a batch of 256 blocks and passes
 *         it to its neighbour, which frees them.
 *
 * With PAUSE, a thread sleeps for PAUSE microseconds after 4096 operations.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCKS	      1000u
#define BATCH	      256u
#define THREADS_MAX   256u
#define PAUSE_EVERY   4096u
#define LARSON_ROUNDS 10u

struct mailbox {
	_Alignas(64) _Atomic(void **) batch; /* NULL: empty */
};

static struct mailbox boxes[THREADS_MAX];
static unsigned thread_count;
static uint64_t operations; /* of each thread */
static long pause_us;
static void *arrays[THREADS_MAX][BLOCKS];

static uint32_t
next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static size_t
random_size(uint32_t *state)
{
	return 16 + next_random(state) % 1008;
}

static void
pause_at(uint64_t done)
{
	const struct timespec t = { .tv_nsec = pause_us * 1000 };

	if (pause_us != 0 && done % PAUSE_EVERY == 0)
		nanosleep(&t, NULL);
}

static void
replace(void **array, uint64_t n, uint32_t *state)
{
	for (uint64_t i = 0; i < n; i++) {
		void **const p = &array[next_random(state) % BLOCKS];

		free(*p);
		*p = malloc(random_size(state));
		*(char *)*p = 1;
		pause_at(i);
	}
}

static void *
run_own(void *number)
{
	const unsigned self = (unsigned)(uintptr_t)number;
	uint32_t state = self + 1;

	replace(arrays[self], operations, &state);
	return NULL;
}

/* One thread's turn in larson; it starts its successor. */
struct turn {
	unsigned array, left;
	pthread_t next;
};

static void *
run_larson(void *context)
{
	struct turn *const t = context;
	uint32_t state = t->array * LARSON_ROUNDS + t->left + 1;

	replace(arrays[t->array], operations / LARSON_ROUNDS, &state);
	if (t->left > 1) {
		struct turn next = { t->array, t->left - 1, 0 };
		pthread_t id;

		if (pthread_create(&id, NULL, run_larson, &next) != 0)
			exit(1);
		pthread_join(id, NULL);
	}
	return NULL;
}

static void *
run_passed(void *number)
{
	const unsigned self = (unsigned)(uintptr_t)number;
	struct mailbox *const out = &boxes[(self + 1) % thread_count];
	struct mailbox *const in = &boxes[self];
	uint32_t state = self + 1;
	struct timespec t = { .tv_nsec = 1000 };

	for (uint64_t done = 0; done < operations; done += BATCH) {
		void **batch = malloc(BATCH * sizeof(*batch));

		for (unsigned i = 0; i < BATCH; i++)
			batch[i] = malloc(random_size(&state));
		while (atomic_load_explicit(&out->batch,
					    memory_order_acquire) != NULL)
			nanosleep(&t, NULL);
		atomic_store_explicit(&out->batch, batch, memory_order_release);
		while ((batch = atomic_exchange_explicit(
				&in->batch, NULL, memory_order_acquire)) ==
		       NULL)
			nanosleep(&t, NULL);
		for (unsigned i = 0; i < BATCH; i++)
			free(batch[i]);
		free(batch);
		if (pause_us != 0) {
			t.tv_nsec = pause_us * 1000 * BATCH / PAUSE_EVERY;
			nanosleep(&t, NULL);
			t.tv_nsec = 1000;
		}
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	void *(*run)(void *) = NULL;
	pthread_t id[THREADS_MAX];
	struct turn turn[THREADS_MAX];
	struct timespec begin, end;
	bool is_larson;

	if (argc < 4)
		return 2;
	thread_count = (unsigned)strtoul(argv[2], NULL, 10);
	operations = strtoull(argv[3], NULL, 10);
	pause_us = argc > 4 ? strtol(argv[4], NULL, 10) : 0;
	is_larson = strcmp(argv[1], "larson") == 0;
	if (strcmp(argv[1], "own") == 0)
		run = run_own;
	else if (is_larson)
		run = run_larson;
	else if (strcmp(argv[1], "passed") == 0)
		run = run_passed;
	if (run == NULL || thread_count == 0 || thread_count > THREADS_MAX)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned i = 0; i < thread_count; i++) {
		turn[i] = (struct turn){ i, LARSON_ROUNDS, 0 };
		if (pthread_create(&id[i], NULL, run,
				   is_larson ? (void *)&turn[i]
					     : (void *)(uintptr_t)i) != 0)
			return 1;
	}
	for (unsigned i = 0; i < thread_count; i++)
		pthread_join(id[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.3f\n", (double)thread_count * (double)operations /
				 ((double)(end.tv_sec - begin.tv_sec) * 1e6 +
				  (double)(end.tv_nsec - begin.tv_nsec) / 1e3));
	return 0;
}
