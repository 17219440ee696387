/* SPDX-License-Identifier: MIT */
/*
 * fork_during_realloc.c - fork while other threads are inside realloc()
 *
 * usage: fork_during_realloc FORKS WAIT
 *
 * Each thread moves its block again and again; shared/wideheap.c makes that
 * slow.  A child allocates all blocks that are free in its heap, among them
 * those that a realloc had just given up at the fork, and frees them again.
 * With WAIT 1 the parent forks only while a realloc is under way.  Prints each
 * child's process number.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wide.h"

#define THREADS 3
#define BLOCKS	16

extern atomic_int wideheap_inside __attribute__((weak));

static atomic_bool stop;

static void *
work(void *arg)
{
	void *p = malloc(WIDE_NBYTES);

	while (p != NULL && !atomic_load(&stop)) {
		usleep(100);
		p = realloc(p, WIDE_NBYTES);
	}
	free(p);
	return arg;
}

static void
serve(void)
{
	void *blocks[BLOCKS];

	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(WIDE_NBYTES);
	for (size_t i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	_exit(0);
}

int
main(int argc, char **argv)
{
	const int forks = argc == 3 ? atoi(argv[1]) : 0;
	const int waits = argc == 3 ? atoi(argv[2]) : 0;
	pthread_t threads[THREADS];
	int status, failed = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	usleep(20000);
	for (int i = 0; i < forks; i++) {
		while (waits && atomic_load(&wideheap_inside) == 0)
			usleep(100);

		const pid_t pid = fork();

		if (pid == 0)
			serve();
		printf("%d\n", (int)pid);
		failed |= waitpid(pid, &status, 0) != pid || status != 0;
	}
	atomic_store(&stop, 1);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return failed;
}
