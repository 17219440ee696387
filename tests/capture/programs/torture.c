/* SPDX-License-Identifier: MIT */
/*
 * torture.c - many threads that use each other's blocks in every way
 *
 *	torture THREADS AT_ONCE STEPS FORKS [SEED]
 *
 * THREADS threads of STEPS steps each, AT_ONCE of them at the same time, share
 * a board of blocks.  A step takes a block from the board (mostly one that
 * another thread put there), checks that its bytes are unchanged, and frees it,
 * reallocates it, or puts a new one in its place.  Sizes are such that realloc
 * often moves and another thread gets the old block at once.  Meanwhile the
 * main thread forks FORKS children, which free blocks that they inherited.
 * Every block is freed at the end.  Exit status 1 if a block was changed.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 512

static _Atomic(unsigned char *) board[SLOTS];
static _Atomic uint64_t mistake_count, event_count;
static long steps;
static uint64_t seed = 1;

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * A block's first 8 bytes are its length; all other bytes have a value that
 * depends on the length.  Only the ends are written and checked.
 */
static void
sign(unsigned char *p, uint64_t n)
{
	memcpy(p, &n, sizeof(n));
	p[8] = p[n / 2] = p[n - 1] = (unsigned char)(n * 7 + 1);
}

static uint64_t
check(const unsigned char *p, uint64_t most)
{
	uint64_t n;

	memcpy(&n, p, sizeof(n));
	if (n < 16 || n > 4 << 20) {
		mistake_count++;
		return 16;
	}
	if (p[8] != (unsigned char)(n * 7 + 1) ||
	    (most >= n && p[n - 1] != p[8]))
		mistake_count++;
	return n;
}

static size_t
pick_size(uint64_t r)
{
	switch (r % 64) {
	case 0:
		return 16 + r / 64 % 300000;
	case 1 ... 8:
		return 16 + r / 64 % 10000;
	default:
		return 16 + r / 64 % 500;
	}
}

static unsigned char *
make_block(uint64_t *random)
{
	const uint64_t r = next_random(random);
	const size_t n = pick_size(r >> 8);
	void *p = NULL;

	switch (r % 16) {
	case 0:
		p = calloc(n, 1);
		break;
	case 1:
		p = memalign(64, n);
		break;
	case 2:
		if (posix_memalign(&p, 256, n) != 0)
			p = NULL;
		break;
	case 3:
		p = aligned_alloc(4096, n);
		break;
	case 4:
		p = realloc(NULL, n);
		break;
	case 5:
		p = reallocarray(NULL, 1, n);
		break;
	default:
		p = malloc(n);
	}
	event_count++;
	if (p == NULL) {
		perror("torture");
		_exit(1);
	}
	sign(p, n);
	return p;
}

static void
drop_block(unsigned char *p)
{
	check(p, UINT64_MAX);
	free(p);
	event_count++;
}

static unsigned char *
resize_block(unsigned char *p, uint64_t *random)
{
	const uint64_t old = check(p, UINT64_MAX);
	const size_t n = pick_size(next_random(random) >> 8);
	unsigned char *const q = realloc(p, n);

	event_count++;
	if (q == NULL) {
		perror("torture");
		_exit(1);
	}
	if (check(q, n) != old)
		mistake_count++;
	sign(q, n);
	return q;
}

static void
step(uint64_t *random)
{
	const uint64_t r = next_random(random);
	unsigned char *p = atomic_exchange(&board[r >> 8 & (SLOTS - 1)], NULL);

	switch (r % 8) {
	case 0 ... 2:
		if (p != NULL)
			p = resize_block(p, random);
		break;
	case 3 ... 4:
		if (p != NULL)
			drop_block(p);
		p = NULL;
		break;
	default:
		if (p == NULL)
			p = make_block(random);
	}
	p = atomic_exchange(&board[r >> 24 & (SLOTS - 1)], p);
	if (p != NULL)
		drop_block(p);
}

static void *
run(void *arg)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15 + (uintptr_t)arg;

	for (long i = 0; i < steps; i++)
		step(&random);
	return NULL;
}

static void
clear_board(void)
{
	for (int i = 0; i < SLOTS; i++) {
		unsigned char *const p = atomic_exchange(&board[i], NULL);

		if (p != NULL)
			drop_block(p);
	}
}

/*
 * The child is alone: it frees the blocks on the board and then makes blocks of
 * its own.  It cannot free a block that another thread had taken from the
 * board.  A block may be half written, so the child checks none.
 */
static void
run_child(uint64_t random)
{
	for (int i = 0; i < SLOTS; i++)
		free(atomic_exchange(&board[i], NULL));
	for (int i = 0; i < 200; i++)
		step(&random);
	clear_board();
	_exit(mistake_count != 0);
}

static void
run_children(int n)
{
	for (int i = 0; i < n; i++) {
		const pid_t pid = fork();
		int status;

		if (pid == 0) {
			mistake_count = 0;
			run_child(seed + (uint64_t)i * 77 + 1);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			mistake_count++;
	}
}

int
main(int argc, char **argv)
{
	pthread_t threads[1024];
	long count, at_once, forks;

	if (argc < 5) {
		fprintf(stderr,
			"torture: THREADS AT_ONCE STEPS FORKS [SEED]\n");
		return 2;
	}
	count = atol(argv[1]);
	at_once = atol(argv[2]);
	steps = atol(argv[3]);
	forks = atol(argv[4]);
	if (argc > 5)
		seed = strtoull(argv[5], NULL, 10);
	for (long made = 0; made < count; made += at_once) {
		const long n = count - made < at_once ? count - made : at_once;

		for (long i = 0; i < n; i++)
			if (pthread_create(&threads[i], NULL, run,
					   (void *)(made + i + 1)) != 0)
				return 1;
		run_children((int)(forks * n / count));
		for (long i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
	}
	clear_board();
	printf("mistakes %llu events %llu\n", (unsigned long long)mistake_count,
	       (unsigned long long)event_count);
	return mistake_count != 0;
}
