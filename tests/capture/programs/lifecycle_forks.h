/* SPDX-License-Identifier: MIT */
/*
 * lifecycle_forks.h - the ways of lifecycle.c to fork
 */
#ifndef LIFECYCLE_FORKS_H
#define LIFECYCLE_FORKS_H

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "lifecycle.h"

static void *kept[1000];

static pid_t
fork_child(int events)
{
	const pid_t pid = fork();

	if (pid == 0) {
		churn(events);
		_exit(0);
	}
	return pid;
}

static void
fork_simple(void)
{
	mark(BEFORE);

	const pid_t pid = fork_child(500);

	mark(AFTER);
	need(wait_for(pid) == 0, "child");
	churn(10);
	_exit(0);
}

/* The child ends as most children do: by exit(), after some stdio. */
static void
fork_exit(void)
{
	mark(BEFORE);

	const pid_t pid = fork();

	if (pid == 0) {
		churn(500);
		exit(0);
	}
	mark(AFTER);
	need(wait_for(pid) == 0, "child");
	_exit(0);
}

static void
fork_silent(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	need(wait_for(pid) == 0, "child");
	_exit(0);
}

static void *
start_fork(void *arg)
{
	mark(BEFORE);

	const pid_t pid = fork_child(500);

	mark(AFTER);
	need(wait_for(pid) == 0, "child");
	return arg;
}

static void
fork_in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, start_fork, NULL);
	pthread_join(t, NULL);
	_exit(0);
}

/* The child has threads of its own; number 0 is the one that forked. */
static void
fork_threads(void)
{
	const pid_t pid = fork();
	pthread_t t;

	if (pid == 0) {
		churn(100);
		pthread_create(&t, NULL, start_straggler, NULL);
		pthread_join(t, NULL);
		_exit(0);
	}
	need(wait_for(pid) == 0, "child");
	_exit(0);
}

static void
fork_inherit(void)
{
	pid_t pid;

	for (int i = 0; i < 1000; i++)
		kept[i] = malloc((size_t)i + 1);
	mark(BEFORE);
	pid = fork();
	for (int i = 0; i < 1000; i += 2)
		free(kept[i]);
	for (int i = 1; i < 1000; i += 2)
		kept[i] = realloc(kept[i], (size_t)i + 200);
	for (int i = 1; i < 1000; i += 2)
		free(kept[i]);
	if (pid == 0)
		_exit(0);
	need(wait_for(pid) == 0, "child");
	_exit(0);
}

/* pthread_atfork() handlers do not run here. */
static void
fork_raw(void)
{
	mark(BEFORE);

	const pid_t pid =
		(pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0) {
		churn(500);
		_exit(0);
	}
	mark(AFTER);
	need(wait_for(pid) == 0, "child");
	_exit(0);
}

/* They do not run here, either, although this is a function of libc. */
static void
fork_async(void)
{
	mark(BEFORE);

	const pid_t pid = _Fork();

	if (pid == 0) {
		churn(500);
		_exit(0);
	}
	mark(AFTER);
	need(wait_for(pid) == 0, "child");
	churn(10);
	_exit(0);
}

static void
fork_double(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		if (fork() == 0)
			churn(500);
		else
			churn(50);
		_exit(0);
	}
	need(wait_for(pid) == 0, "child");
	_exit(0);
}

static void
fork_daemon(void)
{
	mark(BEFORE);
	need(daemon(1, 0) == 0, "daemon");
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	churn(500);
	exit(0);
}

/* Each generation forks the next one, 20 deep, and 50 side by side. */
static void
fork_storm(void)
{
	pid_t pids[50];
	int depth = 0;

	for (int i = 0; i < 50; i++) {
		churn(20);
		pids[i] = fork_child(40);
	}
	for (int i = 0; i < 50; i++)
		need(wait_for(pids[i]) == 0, "child");
	while (depth < 20 && fork() == 0) {
		churn(10);
		depth++;
	}
	while (wait(NULL) > 0)
		continue;
	_exit(0);
}

static void *
start_forking(void *arg)
{
	for (int i = 0; i < 10; i++) {
		churn(100);
		need(wait_for(fork_child(100)) == 0, "child");
	}
	return arg;
}

/* Several threads fork while others allocate. */
static void
fork_thread_storm(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, start_forking, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	_exit(0);
}

#endif /* LIFECYCLE_FORKS_H */
