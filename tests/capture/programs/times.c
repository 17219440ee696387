/* SPDX-License-Identifier: MIT */
/*
 * times.c - calls with the moments at which they began and returned
 *
 *	times LOG MODE THREADS CALLS [PROCESSES]
 *
 * Each thread, including the initial one, makes CALLS calls of malloc, calloc,
 * realloc and free, and reads CLOCK_MONOTONIC before and after each.  It writes
 * its readings to LOG.PID.TID, a shared mapping, so that a kill leaves the log
 * whole.  With PROCESSES, as many children of fork(2) do the same at the same
 * time.
 *
 * MODE says when the calls come:
 *
 *	steady	one after the other
 *	bursts	up to 200, then a pause of up to 5 ms, of each thread by itself
 *	turns	one thread at a time, for 8 ms each
 *	idle	up to 20, then a pause of 80 to 160 ms
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOTS	16u
#define TURN_NS 8000000ull

enum kind {
	MALLOC = 1,
	CALLOC,
	REALLOC,
	FREE
};

/* Read by times.py. */
struct call {
	uint64_t kind, before, after; /* 0: it has not returned */
	uint64_t address, old, size;
};

struct worker {
	struct call *log;
	uint64_t random;
	void *slots[SLOTS];
	unsigned number;
};

static const char *log_path;
static char mode;
static unsigned threads, calls;
static uint64_t start;

static uint64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static unsigned
draw(struct worker *w, unsigned n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w->random >> 33) % n;
}

static void
pause_us(unsigned us)
{
	const struct timespec ts = { us / 1000000, us % 1000000 * 1000l };

	nanosleep(&ts, NULL);
}

static struct call *
map_log(void)
{
	const size_t nbytes = (calls + SLOTS) * sizeof(struct call);
	char path[512];
	void *map;
	int fd;

	snprintf(path, sizeof(path), "%s.%d.%ld", log_path, (int)getpid(),
		 syscall(SYS_gettid));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)nbytes) != 0)
		abort();
	map = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		abort();
	close(fd);
	return map;
}

static void
do_call(struct worker *w, struct call *c)
{
	void **const slot = &w->slots[draw(w, SLOTS)];
	/* Some sizes take another form in the recorder's buffer. */
	const size_t size = draw(w, 64) == 0 ? 70000 : 1 + draw(w, 2000);

	c->old = (uintptr_t)*slot;
	c->size = size;
	c->kind = *slot == NULL	    ? MALLOC + draw(w, 2)
		  : draw(w, 3) == 0 ? REALLOC
				    : FREE;
	c->before = now();
	if (c->kind == MALLOC)
		*slot = malloc(size);
	else if (c->kind == CALLOC)
		*slot = calloc(1, size);
	else if (c->kind == REALLOC)
		*slot = realloc(*slot, size);
	else
		free(*slot);
	const uint64_t after = now();

	if (c->kind == FREE)
		*slot = NULL;
	c->address = (uintptr_t)*slot;
	__atomic_store_n(&c->after, after, __ATOMIC_RELEASE);
}

/* Wait as MODE requires; 'left' calls are left of the current group. */
static void
wait_a_while(struct worker *w, unsigned *left)
{
	if (mode == 't') {
		while ((now() - start) / TURN_NS % threads != w->number)
			pause_us(200);
		return;
	}
	if (mode == 's' || (*left)-- > 0)
		return;
	*left = draw(w, mode == 'i' ? 20 : 200);
	pause_us(mode == 'i' ? 80000 + draw(w, 80000) : draw(w, 5000));
}

static void *
work(void *number)
{
	struct worker w = { .number = (unsigned)(uintptr_t)number };
	unsigned left = 0;

	w.random = w.number * 77u + (unsigned)getpid();
	w.log = map_log();
	for (unsigned i = 0; i < calls; i++) {
		wait_a_while(&w, &left);
		do_call(&w, &w.log[i]);
	}
	return NULL;
}

static void
run_threads(void)
{
	pthread_t *const t = calloc(threads, sizeof(*t));

	start = now();
	for (unsigned i = 1; i < threads; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(uintptr_t)i) !=
		    0)
			abort();
	work(NULL);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	free(t);
}

int
main(int argc, char **argv)
{
	unsigned processes = 0;

	if (argc < 5)
		return 2;
	log_path = argv[1];
	mode = argv[2][0];
	threads = (unsigned)atoi(argv[3]);
	calls = (unsigned)atoi(argv[4]);
	if (argc > 5)
		processes = (unsigned)atoi(argv[5]);
	while (processes-- > 0) {
		if (fork() != 0)
			continue;
		run_threads();
		return 0;
	}
	run_threads();
	while (wait(NULL) > 0)
		;
	return 0;
}
