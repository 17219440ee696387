/* SPDX-License-Identifier: MIT */
/*
 * handover.c - threads that allocate in turn, and pass blocks on
 *
 *	handover SECONDS
 *
 * Three threads take blocks out of slots that they share, free or reallocate
 * them, and put new ones there, without a lock.  For some milliseconds all of
 * them run, then only one, then one and at times another: so the recorder
 * grants a thread the tick and revokes it, at any moment of what the others
 * do.  Prints the numbers of allocated and freed blocks.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 3
#define SLOTS	16
#define TURN_NS 40000000ull

static _Atomic(void *) slots[SLOTS];
static _Atomic uint64_t taken, given;
static uint64_t start_ns, length_ns;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Make a few operations on blocks of any thread. */
static void
work(uint64_t *seed)
{
	for (unsigned i = 0; i < 50; i++) {
		*seed ^= *seed << 13;
		*seed ^= *seed >> 7;
		*seed ^= *seed << 17;

		_Atomic(void *) *const slot = &slots[*seed % SLOTS];
		void *p = atomic_exchange_explicit(slot, NULL,
						   memory_order_acquire);

		if (p != NULL && *seed >> 60 != 0) {
			free(p);
			given++;
			p = NULL;
		} else if (p != NULL) {
			p = realloc(p, 64);
		} else {
			p = malloc(*seed >> 8 & 63);
			taken++;
		}
		/* Another thread may have put a block there. */
		p = atomic_exchange_explicit(slot, p, memory_order_acq_rel);
		if (p != NULL) {
			free(p);
			given++;
		}
	}
}

/* Return whether thread 'id' works now. */
static int
is_turn(uint64_t id, uint64_t now, uint64_t turn)
{
	switch (turn % 4) {
	case 0:
		return 1;
	case 1:
		return turn / 4 % THREADS == id;
	case 2: /* the others about once in 100 microseconds */
		return turn / 4 % THREADS == id || now / 1000 % 100 == id;
	default: /* ... or in 3 milliseconds */
		return turn / 4 % THREADS == id || now / 1000 % 3000 == id;
	}
}

static void *
run(void *argument)
{
	const uint64_t id = (uintptr_t)argument;
	uint64_t seed = 88172645463325252u + id, now;

	while ((now = now_ns()) - start_ns < length_ns) {
		const uint64_t turn = (now - start_ns) / TURN_NS;

		if (!is_turn(id, now, turn)) {
			/*
			 * Leave a processor to the recorder: there may be few.
			 */
			if (turn % 4 == 1)
				nanosleep(
					&(struct timespec){ .tv_nsec = 50000 },
					NULL);
			continue;
		}
		work(&seed);
		/* Give the recorder time to see which thread is alone. */
		while (turn % 4 != 0 && now_ns() - now < 20000)
			;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc != 2)
		return 2;
	length_ns = strtoull(argv[1], NULL, 10) * 1000000000;
	start_ns = now_ns();
	for (uintptr_t i = 1; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
			abort();
	run(NULL);
	for (unsigned i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("taken %llu given %llu\n", (unsigned long long)taken,
	       (unsigned long long)given);
	return 0;
}
