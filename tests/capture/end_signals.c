/* SPDX-License-Identifier: MIT */
/*
 * end_signals.c - do signals change how a process ends, once it is ending?
 *
 * usage: end_signals WAY ACTION ROUNDS
 *
 * Each round forks a child that allocates, says through a pipe that it is about to
 * end, and ends by WAY with status 7: return, exit, _exit, quick_exit, pthread_exit
 * (of the last thread), raw (exit_group by syscall(3)), abort or exec.  The parent
 * sends SIGTERM after a delay of 0.5 to 10 ms.  The child's ACTION for SIGTERM is
 * default, ignore, block or handle, or "threads": it handles the signal and has a
 * second thread that goes on allocating.
 *
 * Prints how many children ended otherwise than they would have without a signal,
 * and in how many a handler ran: "N other, N handled".  A child that execs may also
 * end by the signal, and its handler may run: both are as if the signal had arrived a
 * little later or sooner.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS 7

static int out = -1;
static void *volatile block;

static void
handle(int number)
{
	(void)number;
	if (write(out, "H", 1) != 1)
		_exit(99);
}

static void *
allocate(void *unused)
{
	(void)unused;
	for (;;) {
		block = malloc(100);
		free(block);
	}
	return NULL;
}

static void
set_action(const char *action)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	pthread_t thread;
	sigset_t term;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	if (strcmp(action, "ignore") == 0)
		sa.sa_handler = SIG_IGN;
	if (strcmp(action, "handle") == 0 || strcmp(action, "threads") == 0)
		sa.sa_handler = handle;
	sigaction(SIGTERM, &sa, NULL);
	if (strcmp(action, "block") == 0)
		sigprocmask(SIG_BLOCK, &term, NULL);
	if (strcmp(action, "threads") == 0 &&
	    pthread_create(&thread, NULL, allocate, NULL) != 0)
		_exit(98);
}

static int
end(const char *way)
{
	static char *const again[] = { "sh", "-c", "exit 7", NULL };
	const struct sched_param first = { .sched_priority = 1 };

	/* Between saying so and ending nobody else shall run, where we may. */
	sched_setscheduler(0, SCHED_FIFO, &first);
	if (write(out, "e", 1) != 1)
		_exit(97);
	if (strcmp(way, "exit") == 0)
		exit(STATUS);
	if (strcmp(way, "_exit") == 0)
		_exit(STATUS);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(STATUS);
	if (strcmp(way, "raw") == 0)
		syscall(SYS_exit_group, STATUS);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "pthread_exit") == 0)
		pthread_exit(NULL);
	if (strcmp(way, "exec") == 0)
		execv("/bin/sh", again);
	return STATUS;
}

/* Is 'status' what this way comes to without a signal? */
static int
is_expected(const char *way, int status)
{
	if (strcmp(way, "abort") == 0)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
	if (strcmp(way, "exec") == 0 && WIFSIGNALED(status))
		return WTERMSIG(status) == SIGTERM;
	return WIFEXITED(status) &&
	       WEXITSTATUS(status) ==
		       (strcmp(way, "pthread_exit") == 0 ? 0 : STATUS);
}

int
main(int argc, char **argv)
{
	static const unsigned delays_us[] = { 500,  700,  1000, 1500,
					      2000, 3000, 5000, 10000 };
	const int rounds = argc == 4 ? atoi(argv[3]) : 0;
	int other = 0, handled = 0;

	for (int i = 0; i < rounds; i++) {
		int ends[2], status;
		char c;

		if (pipe(ends) != 0)
			return 2;

		const pid_t child = fork();

		if (child == 0) {
			close(ends[0]);
			out = ends[1];
			for (int n = 0; n < 5000; n++)
				block = malloc((size_t)n);
			set_action(argv[2]);
			return end(argv[1]);
		}
		close(ends[1]);
		if (child < 0 || read(ends[0], &c, 1) != 1)
			return 2;
		usleep(delays_us[i % (int)(sizeof(delays_us) /
					   sizeof(*delays_us))]);
		kill(child, SIGTERM);
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		other += !is_expected(argv[1], status);
		handled += read(ends[0], &c, 1) == 1 &&
			   strcmp(argv[1], "exec") != 0;
		close(ends[0]);
	}
	printf("%d other, %d handled\n", other, handled);
	return 0;
}
