/* SPDX-License-Identifier: MIT */
/*
 * client.c - a program that uses hatftrace.h, with or without the recorder
 *
 * usage: client order | heaps | threads | fork
 *
 * Prints its own counts, which the script compares with the trace.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../preload/hatftrace.h"

#define BLOCKS 1000

/* Record two periods; the same amount of work between them is not recorded. */
static void
order(void)
{
	void *block[BLOCKS];
	int results[6], n = 0;

	results[n++] = hatftrace_is_recording();
	results[n++] = hatftrace_start();
	for (int i = 0; i < BLOCKS; i++)
		block[i] = malloc(100 + (size_t)i);
	hatftrace_mark("the first \"part\" is over, and this text is long "
		       "enough for several pieces of it\n");
	results[n++] = hatftrace_flush();
	results[n++] = hatftrace_is_recording();
	results[n++] = hatftrace_stop();
	for (int i = 0; i < BLOCKS; i++)
		block[i] = realloc(block[i], 3000 + (size_t)i);
	results[n++] = hatftrace_start();
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	hatftrace_stop();
	for (int i = 0; i < n; i++)
		printf("%d ", results[i]);
	puts("");
}

/* A pool inside a malloc() block; both begin at the same address. */
static void
use_pool(const char *name, char *memory, bool destroy)
{
	const uint64_t heap = hatftrace_heap_create(name);

	for (int i = 0; i < BLOCKS; i++)
		hatftrace_heap_alloc(heap, memory + 32 * i, 32);
	for (int i = 0; i < BLOCKS; i += 2)
		hatftrace_heap_free(heap, memory + 32 * i);
	hatftrace_heap_realloc(heap, memory + 32, memory, 64);
	hatftrace_heap_realloc(heap, memory, memory, 48);
	hatftrace_heap_realloc(heap, memory, NULL, 0);
	hatftrace_heap_realloc(heap, NULL, memory, 32);
	if (destroy)
		hatftrace_heap_destroy(heap);
}

static void *
work(void *number)
{
	char *const memory = malloc(32 * BLOCKS);

	for (int i = 0; i < 20; i++)
		use_pool("of a thread", memory, i % 2 == 0);
	hatftrace_mark(number);
	free(memory);
	return NULL;
}

static void
threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, "a thread is done");
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void
fork_with_heap(void)
{
	char *const memory = malloc(32 * BLOCKS);
	const uint64_t heap = hatftrace_heap_create("inherited");
	pid_t child;

	hatftrace_heap_alloc(heap, memory, 10);
	child = fork();
	if (child == 0) {
		hatftrace_heap_free(heap, memory);
		hatftrace_heap_alloc(heap, memory, 20);
		exit(0);
	}
	waitpid(child, NULL, 0);
	hatftrace_heap_destroy(heap);
}

int
main(int argc, char **argv)
{
	const char *const what = argc > 1 ? argv[1] : "";
	char *memory;

	if (strcmp(what, "order") == 0) {
		order();
	} else if (strcmp(what, "heaps") == 0) {
		memory = malloc(32 * BLOCKS);
		use_pool("first", memory, true);
		use_pool("a name that is too long", memory, false);
		free(memory);
	} else if (strcmp(what, "threads") == 0) {
		threads();
	} else if (strcmp(what, "fork") == 0) {
		fork_with_heap();
	}
	return 0;
}
