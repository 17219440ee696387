/* SPDX-License-Identifier: MIT */
/*
 * stack_captures.c - capture the stack at each realloc()
 *
 * A library to be preloaded.  The test compiles it with the recorder's files
 * that capture stacks, and instruments these with AddressSanitizer.  The
 * recorder as a whole cannot run in a program with AddressSanitizer.
 *
 * At the end of the process, the library writes to the file $CAPTURES how many
 * stacks it has captured, and how many of them have a number.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "preload/stacks/capture.h"
#include "preload/sys/memory.h"

/* A capture that threads use one after the other. */
struct reused {
	struct capture *capture;
	struct reused *next;
};

static void *(*real_realloc)(void *, size_t);
static bool is_ready;
static pthread_key_t at_end_of_thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reused *unused;
static __thread struct reused *own;
static __thread bool is_inside;
static _Atomic unsigned long capture_count, number_count;

void *
memory_map_forked(size_t nbytes)
{
	void *const p =
		mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *
memory_map_wiped(size_t nbytes)
{
	return memory_map_forked(nbytes);
}

void
memory_unmap(void *p, size_t nbytes, enum memory_kind kind)
{
	(void)kind;
	munmap(p, nbytes);
}

static void
give_back(void *reused)
{
	struct reused *const r = reused;

	/* A signal handler must not capture any more. */
	is_inside = true;
	own = NULL;
	pthread_mutex_lock(&lock);
	r->next = unused;
	unused = r;
	pthread_mutex_unlock(&lock);
}

static void
get_capture(void)
{
	pthread_mutex_lock(&lock);
	own = unused;
	if (own != NULL)
		unused = own->next;
	pthread_mutex_unlock(&lock);
	if (own == NULL) {
		own = calloc(1, sizeof(*own));
		if (own == NULL || (own->capture = capture_make()) == NULL)
			abort();
	}
	pthread_setspecific(at_end_of_thread, own);
}

static void
capture(void)
{
	is_inside = true;
	if (own == NULL)
		get_capture();
	capture_count++;
	number_count += capture_stack(own->capture) != 0;
	is_inside = false;
}

void *
realloc(void *p, size_t nbytes)
{
	if (real_realloc == NULL)
		real_realloc = dlsym(RTLD_NEXT, "realloc");
	/* A signal handler may have interrupted a capture. */
	if (is_ready && !is_inside)
		capture();
	return real_realloc(p, nbytes);
}

__attribute__((constructor)) static void
begin(void)
{
	if (!capture_init(100) ||
	    pthread_key_create(&at_end_of_thread, give_back) != 0)
		abort();
	is_ready = true;
}

__attribute__((destructor)) static void
end(void)
{
	FILE *const f = fopen(getenv("CAPTURES"), "w");

	is_ready = false;
	if (f == NULL)
		abort();
	fprintf(f, "%lu %lu\n", capture_count, number_count);
	fclose(f);
}
