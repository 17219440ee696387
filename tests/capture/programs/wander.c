/* SPDX-License-Identifier: MIT */
/*
 * wander.c - blocks of all sizes wander between threads
 *
 * usage: wander THREADS ROUNDS OPERATIONS SEED
 *
 * In each round new threads allocate, reallocate and free blocks; a block
 * changes hands through a table that all threads use.  Then the first thread
 * works alone for a while.  With ROUNDS 0 the program goes on until it is
 * killed.  At the end the table is empty, and the program prints how many calls
 * of each kind it has made.
 */
#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS	    509
#define THREADS_MAX 64
#define ALONE_MS    30

/* A block is at least this large: it knows its size. */
struct block {
	size_t nbytes;
};

struct worker {
	pthread_t id;
	uint64_t random;
	unsigned long operations;
};

static struct block *_Atomic slots[SLOTS];
static _Atomic unsigned long allocs, frees, reallocs;

static uint32_t
pick(struct worker *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((w->random >> 32) * n >> 32);
}

/* Mostly small; some blocks of several pages, few that are mapped. */
static size_t
pick_size(struct worker *w)
{
	const uint32_t class = pick(w, 1000);
	size_t limit = 300;

	if (class >= 998)
		limit = 3u << 20;
	else if (class >= 990)
		limit = 200u << 10;
	else if (class >= 900)
		limit = 20u << 10;
	return sizeof(struct block) + pick(w, (uint32_t)limit);
}

static struct block *
fill(struct block *b, size_t nbytes)
{
	if (b == NULL)
		err(1, "%zu bytes", nbytes);
	b->nbytes = nbytes;
	return b;
}

static struct block *
allocate(struct worker *w)
{
	const size_t nbytes = pick_size(w);
	void *p = NULL;

	atomic_fetch_add(&allocs, 1);
	switch (pick(w, 8)) {
	case 0:
		return fill(calloc(1, nbytes), nbytes);
	case 1:
		if (posix_memalign(&p, 64, nbytes) != 0)
			p = NULL;
		return fill(p, nbytes);
	default:
		return fill(malloc(nbytes), nbytes);
	}
}

static void
release(struct block *b)
{
	if (b == NULL)
		return;
	if (b->nbytes < sizeof(*b))
		errx(1, "a block is damaged");
	atomic_fetch_add(&frees, 1);
	free(b);
}

static void
operate(struct worker *w)
{
	struct block *_Atomic *const slot = &slots[pick(w, SLOTS)];
	struct block *mine = NULL;
	size_t nbytes;

	switch (pick(w, 4)) {
	case 0:
		break;
	case 1:
		mine = atomic_exchange(slot, NULL);
		if (mine == NULL)
			break;
		nbytes = pick_size(w);
		mine = fill(realloc(mine, nbytes), nbytes);
		atomic_fetch_add(&reallocs, 1);
		break;
	case 2: /* a block that never leaves the thread */
		release(allocate(w));
		return;
	default:
		mine = allocate(w);
	}
	release(atomic_exchange(slot, mine));
}

static void *
work(void *arg)
{
	struct worker *const w = arg;

	for (unsigned long n = 0; n < w->operations; n++)
		operate(w);
	return NULL;
}

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Long enough that the recorder can give this thread the tick. */
static void
work_alone(struct worker *w)
{
	const uint64_t end = now_ms() + ALONE_MS;

	while (now_ms() < end)
		for (unsigned n = 0; n < 100; n++)
			operate(w);
}

int
main(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];

	if (argc != 5)
		errx(1, "usage: wander THREADS ROUNDS OPERATIONS SEED");

	const unsigned count = (unsigned)strtoul(argv[1], NULL, 10);
	const unsigned rounds = (unsigned)strtoul(argv[2], NULL, 10);
	struct worker self = { .random = strtoull(argv[4], NULL, 10) };

	if (count == 0 || count > THREADS_MAX)
		errx(1, "1 to %d threads", THREADS_MAX);
	for (unsigned round = 0; rounds == 0 || round < rounds; round++) {
		for (unsigned i = 0; i < count; i++) {
			workers[i].random = self.random * 31 + round * 97 + i;
			workers[i].operations = strtoul(argv[3], NULL, 10);
			if (pthread_create(&workers[i].id, NULL, work,
					   &workers[i]) != 0)
				errx(1, "pthread_create");
		}
		for (unsigned i = 0; i < count; i++)
			pthread_join(workers[i].id, NULL);
		work_alone(&self);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		release(atomic_exchange(&slots[i], NULL));
	printf("allocs=%lu frees=%lu reallocs=%lu\n", allocs, frees, reallocs);
	return 0;
}
