/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - what programs should not do, and do
 *
 *   misuse fork-handler        a timer's handler forks whatever it interrupts,
 *                              and the child returns from the handler; prints
 *                              how many children ended badly
 *   misuse fork-async-handler  the same with _Fork()
 *   misuse last-thread         the only thread leaves by a direct exit call
 *   misuse vfork-first         a vfork child is the first to allocate
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS_MAX 150

static volatile sig_atomic_t forks, is_child;
static pid_t (*fork_by)(void);

static void
fork_now(int signal_number)
{
	(void)signal_number;
	if (is_child || forks == FORKS_MAX)
		return;
	forks++;
	if (fork_by() == 0)
		is_child = 1;
}

/*
 * The signal interrupts malloc() anywhere: the child's copy of the heap may be
 * inconsistent, so the child must not allocate.
 */
static int
fork_handler(void)
{
	const struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	int bad = 0, status;

	signal(SIGALRM, fork_now);
	setitimer(ITIMER_REAL, &every, NULL);
	while (forks < FORKS_MAX) {
		void *p = malloc(100);

		if (!is_child)
			p = realloc(p, 5000);
		if (is_child)
			_exit(0);
		free(p);
		if (is_child)
			_exit(0);
	}
	if (is_child)
		_exit(0);
	while (wait(&status) > 0 || forks < FORKS_MAX)
		bad += status != 0;
	printf("%d\n", bad);
	return 0;
}

static int
vfork_first(void)
{
	const pid_t child = vfork();

	if (child == 0) {
		void *const p = malloc(20000);

		_exit(p == NULL);
	}
	free(malloc(20001));
	return waitpid(child, NULL, 0) == child ? 0 : 1;
}

int
main(int argc, char **argv)
{
	fork_by = fork;
	if (argc == 2 && strcmp(argv[1], "fork-async-handler") == 0) {
		fork_by = _Fork;
		return fork_handler();
	}
	if (argc == 2 && strcmp(argv[1], "fork-handler") == 0)
		return fork_handler();
	if (argc == 2 && strcmp(argv[1], "vfork-first") == 0)
		return vfork_first();
	if (argc == 2 && strcmp(argv[1], "last-thread") == 0) {
		free(malloc(20000));
		syscall(SYS_exit, 7);
	}
	return 2;
}
