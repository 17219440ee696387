/* SPDX-License-Identifier: MIT */
/*
 * storm.c - signal handlers that allocate, under constant signals
 *
 *	storm STEPS
 *
 * Needs shared/reentrant.c as its allocator (preloaded), under which a handler
 * may allocate whatever it has interrupted.  Two threads allocate, free and
 * reallocate; a third sends them SIGUSR1 without a pause, and a timer sends
 * SIGUSR2, whose handler may interrupt that of SIGUSR1.  The handlers do the
 * same as the threads.  At the end it prints the number of allocator calls, and
 * leaves by _exit(), so that there are no more.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define THREADS 2

static _Atomic int running_count = THREADS;
static _Atomic uint64_t handled_count;
static _Atomic(void *) board[16];
static long steps;

/* One step: exchange a block on the board; free or resize the old one. */
static void
step(unsigned r)
{
	void *p = malloc(1 + r % 1000);

	p = atomic_exchange(&board[r % 16], p);
	if (r % 3 == 0)
		p = realloc(p, 1 + r % 2000);
	free(p);
}

static void
handle(int sig)
{
	static _Atomic unsigned r;
	const int saved_errno = errno;

	(void)sig;
	handled_count++;
	for (int i = 0; i < 3; i++)
		step(r++);
	errno = saved_errno;
}

static void *
run(void *arg)
{
	unsigned r = (unsigned)(uintptr_t)arg;

	for (long i = 0; i < steps; i++) {
		r = r * 1103515245 + 12345;
		step(r >> 8);
	}
	running_count--;
	/* Stay while the main thread may still send a signal. */
	while (running_count > -1)
		usleep(1000);
	return NULL;
}

int
main(int argc, char **argv)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	void *const sym = dlsym(RTLD_DEFAULT, "reentrant_count");
	void (*count)(uint64_t[3]);
	uint64_t counts[3];
	struct sigaction action;
	pthread_t t[THREADS];
	char line[100];
	int n;

	steps = argc > 1 ? atol(argv[1]) : 100000;
	if (sym == NULL)
		return 2;
	memcpy(&count, &sym, sizeof(sym));
	memset(&action, 0, sizeof(action));
	action.sa_handler = handle;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)(uintptr_t)(i + 1));
	for (unsigned i = 0; running_count > 0; i++)
		pthread_kill(t[i % THREADS], i % 7 == 0 ? SIGUSR2 : SIGUSR1);
	setitimer(ITIMER_REAL, &never, NULL);
	running_count = -1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 16; i++)
		free(board[i]);
	count(counts);
	n = snprintf(line, sizeof(line),
		     "calls %llu taken %llu given %llu handled %llu\n",
		     (unsigned long long)counts[0],
		     (unsigned long long)counts[1],
		     (unsigned long long)counts[2],
		     (unsigned long long)handled_count);
	if (write(1, line, (size_t)n) != n)
		_exit(1);
	_exit(0);
}
