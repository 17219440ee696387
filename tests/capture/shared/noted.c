/* SPDX-License-Identifier: MIT */
/*
 * noted.c - a program that records events of its own beside its heap events
 *
 * usage: noted THREADS COUNT [fork]
 *
 * Each worker allocates a block, records an event as text and one as a record
 * of notes.dtd, at times a longer record, and frees the block.  events.py knows
 * what they say.  With fork, a child of each round records, too.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "notes_events.h"

static unsigned count;

#define TEXT(s, n)                              \
	{                                       \
		n,                              \
		{                               \
			(const uint8_t *)(s), n \
		}                               \
	}

static void
record_batch(unsigned worker, unsigned i)
{
	char letters[90];
	uint64_t bytes[9];
	struct notes_batch_parts_items parts[5];

	memset(letters, 'a' + (int)(i + worker) % 26, sizeof(letters));
	for (unsigned j = 0; j < 9; j++)
		bytes[j] = UINT64_MAX - i - j;
	for (unsigned j = 0; j < 5; j++)
		parts[j] = (struct notes_batch_parts_items){ j, TEXT(letters,
								     i % 90) };
	notes_event_batch(worker, i, i % 10, bytes, i % 6, parts);
}

static void
work(unsigned worker)
{
	char letters[800];

	for (unsigned i = 0; i < count; i++) {
		const unsigned n = i * 37 % 700;
		void *const p = malloc(100000 + i % 1000);

		/* The compiler must not leave out malloc() and free(). */
		__asm__ volatile("" : : "r"(p) : "memory");
		memset(letters, 'a' + (int)(i + worker) % 26, n);
		letters[n] = '\0';
		errno = 12345;
		hatftrace_event("step", "w=%u i=%u %s", worker, i, letters);
		notes_event_step(worker, i, TEXT(letters, n));
		if (i % 16 == 0)
			record_batch(worker, i);
		if (errno != 12345)
			abort();
		free(p);
	}
}

static void *
run(void *worker)
{
	work((unsigned)(uintptr_t)worker);
	return NULL;
}

int
main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t thread[64];

	count = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
	for (unsigned i = 1; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)i);
	work(0);
	for (unsigned i = 1; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	if (argc > 3 && fork() == 0) {
		work(0);
		exit(0);
	}
	if (argc > 3)
		wait(NULL);
	return 0;
}
