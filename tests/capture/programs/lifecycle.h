/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.h - what all ways of lifecycle.c use
 *
 * Known numbers of events, two sizes that mark a moment for the script, and
 * children that the program waits for.
 */
#ifndef LIFECYCLE_H
#define LIFECYCLE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEFORE 30001
#define AFTER  30002

/* Make 'n' events. */
static void
churn(int n)
{
	for (int i = 0; i < n; i += 2)
		free(malloc(64));
}

static void
mark(size_t size)
{
	free(malloc(size));
}

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void
need(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "lifecycle: %s\n", what);
	_exit(99);
}

static void *
start_straggler(void *arg)
{
	usleep(50000);
	churn(1000);
	mark(AFTER);
	return arg;
}

#endif /* LIFECYCLE_H */
