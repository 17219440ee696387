/* SPDX-License-Identifier: MIT */
/*
 * sites.c - allocate at known sites, for the tests of report, leaks and stat
 *
 * usage: sites [ROUNDS [alone]]
 *
 * What each function allocates is in its comment, for ROUNDS n (default 100).
 * With 'alone' there is no second thread, for which libc allocates a block whose
 * size depends on the loaded libraries.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Calls through pointers, so that the compiler leaves all of them in. */
static void *(*volatile get)(size_t) = malloc;
static void *(*volatile resize)(void *, size_t) = realloc;
static void (*volatile put)(void *) = free;

static void *volatile kept;

/* n blocks of 100 bytes, never freed; one every call */
__attribute__((noinline)) void
leak_slowly(void)
{
	void **block = get(100);

	*block = kept;
	kept = block;
}

/* 3 blocks of 5000 bytes, never freed */
__attribute__((noinline)) void
leak_at_once(void)
{
	for (int i = 0; i < 3; i++)
		leak_slowly(), kept = get(5000);
}

/* n temporary blocks of 32 bytes */
__attribute__((noinline)) void
be_temporary(void)
{
	put(get(32));
}

/* a block of 1000000 bytes, live at the peak only */
__attribute__((noinline)) void
make_peak(void)
{
	put(get(1000000));
}

/* a block that is resized 9 times, to 2000 bytes, and freed */
__attribute__((noinline)) void
grow_block(void)
{
	char *block = get(20);

	for (size_t i = 1; i < 10; i++)
		block = resize(block, 200 * i + 200);
	put(block);
}

/* 10 blocks of 64 bytes, allocated in a thread and freed by the other one */
static void *
run_thread(void *blocks)
{
	for (int i = 0; i < 10; i++)
		((void **)blocks)[i] = get(64);
	return NULL;
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 100;
	void *blocks[10];
	pthread_t thread;

	for (int i = 0; i < rounds; i++) {
		leak_slowly();
		be_temporary();
		grow_block();
		if (i == rounds / 2)
			make_peak();
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	leak_at_once();
	if (argc <= 2 &&
	    pthread_create(&thread, NULL, run_thread, blocks) == 0) {
		pthread_join(thread, NULL);
		for (int i = 0; i < 10; i++)
			put(blocks[i]);
	}
	return 0;
}
