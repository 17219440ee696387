/* SPDX-License-Identifier: MIT */
/*
 * reforkers.c - forks, and a signal handler that interrupts them and forks too
 *
 * The program has one thread, so that its handlers may call fork(3), too.  It
 * ends when handlers have interrupted a given number of forks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define INTERRUPTED 400

static volatile sig_atomic_t is_forking, interrupted, depth;

static void
fork_once(void)
{
	pid_t child;

	is_forking++;
	child = fork();
	if (child == 0)
		_exit(7);
	is_forking--;
	if (child < 0 || waitpid(child, NULL, 0) != child)
		_exit(9);
}

static void
on_timer(int unused)
{
	(void)unused;
	if (is_forking != 0)
		interrupted++;
	if (depth < 2) {
		depth++;
		fork_once();
		depth--;
	}
}

int
main(void)
{
	const struct itimerval often = { { 0, 700 }, { 0, 700 } };
	const struct sigaction action = {
		.sa_handler = on_timer,
		.sa_flags = SA_NODEFER | SA_RESTART,
	};

	/* Give the recorder events to write. */
	for (int i = 0; i < 20000; i++)
		free(malloc((size_t)i % 100));
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (interrupted < INTERRUPTED)
		fork_once();
	puts("done");
	fflush(stdout);
	_exit(0);
}
