/* SPDX-License-Identifier: MIT */
/*
 * micro.c - what one heap event costs, in ns
 *
 *   micro pairs|mix|shared THREADS MILLIONS [paced]
 *
 * Each thread makes MILLIONS million events, half of them frees.  'pairs':
 * malloc(64) and its free, glibc's fastest path.  'mix': 1000 live objects per
 * thread, each step frees a random one and allocates 16 to 1024 bytes.
 * 'shared': the same, but one object in eight is passed to another thread,
 * which frees it.
 *
 * Prints ns per event: wall time divided by the events of one thread, so that
 * two threads that do not disturb each other show the figure of one.  With
 * 'paced' the events come in bursts of BURST_EVENTS with a pause of PAUSE_NS
 * after each, in which a recorder's writer can catch up.  Only the bursts are
 * timed: this is the cost to the thread that makes the event.
 *
 * The program touches each block, as real programs do.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE_COUNT   1000
#define THREADS_MAX  64
#define SHARED_COUNT 256
#define BURST_EVENTS 20000
#define PAUSE_NS     3000000

enum work {
	PAIRS,
	MIX,
	SHARED
};

static uint64_t event_count;
static enum work work;
static bool paced;
static pthread_barrier_t start_line;
static _Atomic uint64_t burst_ns; /* of all threads */
static _Atomic(void *) shared[SHARED_COUNT];

struct worker {
	uint64_t seed;
	void *live[LIVE_COUNT];
};

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
run_pairs(uint64_t events)
{
	for (uint64_t i = 0; i < events; i += 2)
		free(touched(64));
}

static void
run_mix(struct worker *w, uint64_t events, bool share)
{
	uint64_t seed = w->seed;

	for (uint64_t i = 0; i < events; i += 2) {
		/* xorshift64: cheap compared with the event. */
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;

		void **const slot = &w->live[(seed >> 32) % LIVE_COUNT];
		void *victim = *slot;

		/*
		 * acq_rel: the thread that takes the object frees the bytes
		 * written here.
		 */
		if (share && (seed >> 60 & 7) == 0)
			victim = atomic_exchange_explicit(
				&shared[seed >> 20 & (SHARED_COUNT - 1)],
				victim, memory_order_acq_rel);
		free(victim);
		*slot = touched(16 + seed % 1009);
	}
	w->seed = seed;
}

static void
run(struct worker *w, uint64_t events)
{
	if (work == PAIRS)
		run_pairs(events);
	else
		run_mix(w, events, work == SHARED);
}

static void
run_paced(struct worker *w)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t sum_ns = 0;

	for (uint64_t done = 0; done < event_count; done += BURST_EVENTS) {
		const uint64_t start_ns = now_ns();

		run(w, BURST_EVENTS);
		sum_ns += now_ns() - start_ns;
		nanosleep(&pause, NULL);
	}
	atomic_fetch_add(&burst_ns, sum_ns);
}

static void *
thread_main(void *argument)
{
	static _Thread_local struct worker w;

	w.seed = 88172645463325252u + (uintptr_t)argument;
	pthread_barrier_wait(&start_line);
	if (paced)
		run_paced(&w);
	else
		run(&w, event_count);
	for (size_t i = 0; i < LIVE_COUNT; i++)
		free(w.live[i]);
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
	return paced ? atomic_load(&burst_ns) / thread_count
		     : now_ns() - start_ns;
}

int
main(int argc, char **argv)
{
	const unsigned long thread_count =
		argc >= 4 ? strtoul(argv[2], NULL, 10) : 0;

	if (thread_count < 1 || thread_count > THREADS_MAX || argc > 5) {
		fprintf(stderr, "usage: micro pairs|mix|shared THREADS"
				" MILLIONS [paced]\n");
		return 2;
	}
	work = strcmp(argv[1], "pairs") == 0 ? PAIRS
	       : strcmp(argv[1], "mix") == 0 ? MIX
					     : SHARED;
	paced = argc == 5;
	event_count = strtoul(argv[3], NULL, 10) * 1000000;
	printf("%.2f\n", (double)run_threads((unsigned)thread_count) /
				 (double)event_count);
	return 0;
}
