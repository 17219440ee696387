/* SPDX-License-Identifier: MIT */
/*
 * split.c - threads get memory of a block that another thread is resizing
 *
 * usage: split ROUNDS MILLISECONDS [LIBRARY]
 *
 * In each round the initial thread allocates alone for some milliseconds, and
 * then resizes a block.  shared/splitheap.c makes this realloc wait until the
 * other thread has allocated and freed parts of the old block.  With LIBRARY,
 * the pthread_create() of this library makes the other thread.  The exit status
 * is 3 if a realloc has changed errno.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "split.h"

int splitheap_waits(void) __attribute__((weak));

static atomic_bool over;

static void *
take_parts(void *arg)
{
	while (!atomic_load(&over)) {
		if (splitheap_waits())
			free(malloc(SPLIT_PART_NBYTES));
		else
			usleep(50);
	}
	return arg;
}

static long
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
allocate_for(long us)
{
	const long end = now_us() + us;

	while (now_us() < end) {
		free(malloc(32));
		usleep(20);
	}
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 2 ? atoi(argv[1]) : 0;
	const long us = argc > 2 ? atol(argv[2]) * 1000 : 0;
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		      void *) = pthread_create;
	pthread_t thread;
	void *p;

	if (argc > 3)
		*(void **)&create =
			dlsym(dlopen(argv[3], RTLD_LAZY), "pthread_create");
	if (splitheap_waits == NULL || create == NULL ||
	    create(&thread, NULL, take_parts, NULL) != 0)
		return 2;
	p = malloc(SPLIT_NBYTES);
	for (int i = 0; i < rounds; i++) {
		allocate_for(us);
		errno = 0;
		p = realloc(p, SPLIT_NBYTES);
		if (errno != 0)
			return 3;
	}
	atomic_store(&over, 1);
	pthread_join(thread, NULL);
	free(p);
	return 0;
}
