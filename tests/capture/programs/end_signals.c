/* SPDX-License-Identifier: MIT */
/*
 * end_signals.c - do signals change how a process ends, once it is ending?
 *
 * usage: end_signals WAY ACTION ROUNDS
 *
 * Each round forks a child that allocates, announces through a pipe that it is
 * about to end, and ends by WAY with status 7: return, exit, _exit, quick_exit,
 * pthread_exit (of the last thread), raw (exit_group by syscall(3)), abort or
 * exec.  The parent sends SIGTERM after a delay of 0 to 10 ms.  The child's
 * ACTION for SIGTERM is default, ignore, block or handle; or "threads": it
 * handles the signal and has a second thread that continues to allocate; or
 * "silent": that thread waits and has never allocated, so the recorder does not
 * know it.
 *
 * With pthread_exit the child makes its announcement in an exit handler.
 * Before that, libc loads the unwinder for about 0.2 ms, with or without the
 * recorder, and a signal handler may run.
 *
 * Prints how many children ended differently than without a signal, and in how
 * many a handler ran: "N other, N handled".  A child that execs may also end by
 * the signal, and its handler may run: both are as if the signal had arrived a
 * little later or earlier.
 *
 * A child that was preempted after its announcement, or whose announcing system
 * call had not returned, may not have called anything when the signal came,
 * with or without the recorder.  If such a child differs, the program repeats
 * the round with another child; standard error has the number of such rounds.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define STATUS 7

/* The most children of a round that may be preempted. */
#define TRIES 10

/* What a child tells its parent. */
struct told {
	long lost_before;      /* its preemptions up to its announcement */
	atomic_bool is_ending; /* the system call that announces has returned */
};

static int out = -1;
static struct told *told; /* shared with the child */
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

static int
stay(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return 0;
}

static void
set_action(const char *action)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	pthread_t thread;
	thrd_t silent;
	sigset_t term;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	if (strcmp(action, "ignore") == 0)
		sa.sa_handler = SIG_IGN;
	if (strcmp(action, "handle") == 0 || strcmp(action, "threads") == 0 ||
	    strcmp(action, "silent") == 0)
		sa.sa_handler = handle;
	sigaction(SIGTERM, &sa, NULL);
	if (strcmp(action, "block") == 0)
		sigprocmask(SIG_BLOCK, &term, NULL);
	if (strcmp(action, "threads") == 0 &&
	    pthread_create(&thread, NULL, allocate, NULL) != 0)
		_exit(98);
	if (strcmp(action, "silent") == 0 &&
	    thrd_create(&silent, stay, NULL) != thrd_success)
		_exit(98);
}

/* Tell the parent that the end has begun. */
static void
speak(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct rusage usage;

	/*
	 * If permitted, keep other processes out between announcement and end.
	 */
	sched_setscheduler(0, SCHED_FIFO, &first);
	getrusage(RUSAGE_THREAD, &usage);
	told->lost_before = usage.ru_nivcsw;
	if (write(out, "e", 1) != 1)
		_exit(97);
	atomic_store(&told->is_ending, true);
}

static int
end(const char *way)
{
	static char *const again[] = { "sh", "-c", "exit 7", NULL };

	if (strcmp(way, "pthread_exit") == 0) {
		atexit(speak);
		pthread_exit(NULL);
	}
	speak();
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
	if (strcmp(way, "exec") == 0)
		execv("/bin/sh", again);
	return STATUS;
}

/* Return whether 'status' is the result of this way without a signal. */
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

/*
 * Return how often the initial thread of 'pid', which has ended, was preempted.
 */
static long
lost(pid_t pid)
{
	static const char key[] = "nonvoluntary_ctxt_switches:";
	char path[64], line[200];
	long found = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid,
		 (int)pid);

	FILE *const status = fopen(path, "r");

	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		if (strncmp(line, key, sizeof(key) - 1) == 0)
			found = strtol(line + sizeof(key) - 1, NULL, 10);
	if (status != NULL)
		fclose(status);
	return found;
}

struct outcome {
	bool other, handled;
	bool is_certain;
	bool is_child; /* in the child: main must return 'status' */
	int status;
};

/* Wait for the end of the child, which has just announced it. */
static struct outcome
see(pid_t child, int in, const char *way)
{
	struct outcome o = { .is_child = false };
	siginfo_t info;
	int status;
	char c;

	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0)
		if (errno != EINTR)
			exit(2);
	o.is_certain = lost(child) == told->lost_before;
	if (waitpid(child, &status, 0) != child)
		exit(2);
	o.other = !is_expected(way, status);
	o.handled = read(in, &c, 1) == 1 && strcmp(way, "exec") != 0;
	return o;
}

/* Start a child, and send it SIGTERM 'delay_us' after its announcement. */
static struct outcome
try(const char *way, const char *action, unsigned delay_us)
{
	int ends[2];
	char c;

	if (pipe(ends) != 0)
		exit(2);
	atomic_store(&told->is_ending, false);

	const pid_t child = fork();

	if (child == 0) {
		close(ends[0]);
		out = ends[1];
		for (int n = 0; n < 5000; n++)
			block = malloc((size_t)n + 1);
		set_action(action);
		return (struct outcome){ .is_child = true, .status = end(way) };
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &c, 1) != 1)
		exit(2);
	usleep(delay_us);

	const bool was_ending = atomic_load(&told->is_ending);

	kill(child, SIGTERM);

	struct outcome o = see(child, ends[0], way);

	o.is_certain = o.is_certain && was_ending;
	close(ends[0]);
	return o;
}

int
main(int argc, char **argv)
{
	static const unsigned delays_us[] = { 0,    50,	  100,	200,  500,
					      1000, 1500, 2000, 5000, 10000 };
	const size_t delay_count = sizeof(delays_us) / sizeof(*delays_us);
	const int rounds = argc == 4 ? atoi(argv[3]) : 0;
	int other = 0, handled = 0, uncertain = 0;

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return 2;
	for (int i = 0; i < rounds; i++) {
		struct outcome o;

		for (int n = 0; n < TRIES; n++) {
			o = try(argv[1], argv[2],
				delays_us[(size_t)i % delay_count]);
			if (o.is_child)
				return o.status;
			if (o.is_certain || (!o.other && !o.handled))
				break;
			uncertain++;
		}
		other += o.other;
		handled += o.handled;
	}
	printf("%d other, %d handled\n", other, handled);
	if (uncertain > 0)
		fprintf(stderr, "%s, %s: %d lost their processor\n", argv[1],
			argv[2], uncertain);
	return 0;
}
