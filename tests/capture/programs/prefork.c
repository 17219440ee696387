/* SPDX-License-Identifier: MIT */
/*
 * prefork.c - a server that forks while its threads share blocks
 *
 * The threads exchange blocks through a table without a lock: a block that one
 * thread has allocated is freed or resized by another, at any moment of a
 * fork.  Each child frees the blocks in the table, which are all its parent's,
 * then makes and frees blocks of its own, and prints its process number and the
 * number of blocks that it found.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS	 4096
#define THREADS	 3
#define CHILDREN 20

static _Atomic(void *) table[SLOTS];
static atomic_bool stop;

static unsigned
next_random(unsigned *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void *
work(void *arg)
{
	unsigned state = (unsigned)(size_t)arg * 7919 + 1;

	for (unsigned i = 0; !atomic_load(&stop); i++) {
		if (i % 64 == 0)
			usleep(500); /* keep the trace short */

		_Atomic(void *) *const slot =
			&table[next_random(&state) % SLOTS];
		const size_t size = 16 + next_random(&state) % 2000;
		void *p = atomic_exchange(slot, NULL);

		if (p != NULL && next_random(&state) % 4 != 0) {
			free(p);
			p = NULL;
		}
		p = atomic_exchange(slot, realloc(p, size));
		free(p);
	}
	return NULL;
}

static void
serve(int out)
{
	void *own[1000];
	char line[64];
	unsigned found = 0, state = (unsigned)getpid();
	int n;

	for (size_t i = 0; i < SLOTS; i++) {
		void *const p = atomic_exchange(&table[i], NULL);

		found += p != NULL;
		free(p);
	}
	for (size_t i = 0; i < 1000; i++)
		own[i] = malloc(16 + next_random(&state) % 2000);
	for (size_t i = 0; i < 1000; i++)
		free(own[i]);
	n = snprintf(line, sizeof(line), "%d %u\n", (int)getpid(), found);
	if (write(out, line, (size_t)n) != n)
		_exit(1);
	_exit(0);
}

int
main(void)
{
	const int out = dup(STDOUT_FILENO);
	pthread_t threads[THREADS];
	int status, failed = 0;

	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	usleep(20000);
	for (int i = 0; i < CHILDREN; i++) {
		const pid_t pid = fork();

		if (pid == 0)
			serve(out);
		usleep(1000);
		failed |= waitpid(pid, &status, 0) != pid || status != 0;
	}
	atomic_store(&stop, 1);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return failed;
}
