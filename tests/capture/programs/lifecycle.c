/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - begin, fork, exec and end in every way
 *
 * The argument names the way.  A process makes known numbers of events before
 * and after that moment; allocations of the sizes BEFORE and AFTER mark it for
 * the script.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "lifecycle.h"
#include "lifecycle_execs.h"
#include "lifecycle_forks.h"

static void
at_exit(void)
{
	churn(100);
	mark(AFTER);
}

__attribute__((destructor)) static void
at_unload(void)
{
	churn(10);
}

static void
end_return(void)
{
	atexit(at_exit);
}

static void
end_exit(void)
{
	atexit(at_exit);
	exit(3);
}

static void *
start_exit(void *arg)
{
	exit(arg != NULL ? 4 : 5);
}

static void
end_exit_in_thread(void)
{
	static int not_null;
	pthread_t t;

	pthread_create(&t, NULL, start_exit, &not_null);
	for (;;)
		pause();
}

static void
end__exit(void)
{
	_exit(6);
}

static void
end__Exit(void)
{
	_Exit(7);
}

static void
end_quick_exit(void)
{
	at_quick_exit(at_exit);
	quick_exit(8);
}

static void
end_raw_exit(void)
{
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(9) : "memory");
}

static void
end_abort(void)
{
	abort();
}

static sigjmp_buf after_abort;

static void
jump(int sig)
{
	longjmp(after_abort, sig);
}

/* abort() can be left by a jump out of the handler. */
static void
end_abort_caught(void)
{
	signal(SIGABRT, jump);
	if (setjmp(after_abort) == 0)
		abort();
	churn(1000);
	mark(AFTER);
	exit(10);
}

static void
end_segv(void)
{
	raise(SIGSEGV);
}

static void
end_term(void)
{
	raise(SIGTERM);
}

static void
end_kill(void)
{
	raise(SIGKILL);
}

static void
end_main_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, start_straggler, NULL);
	pthread_exit(NULL);
}

static void *
start_endless(void *arg)
{
	for (;;)
		churn(1000);
	return arg;
}

/* The process ends while other threads are inside malloc(). */
static void
end_busy(void)
{
	pthread_t t;

	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, start_endless, NULL);
	usleep(20000);
	exit(11);
}

static sigjmp_buf before_abort;

static void
jump_back(int sig)
{
	(void)sig;
	siglongjmp(before_abort, 1);
}

/* The process continues, and fills the rings more than once. */
static void
abort_jump(void)
{
	signal(SIGABRT, jump_back);
	if (sigsetjmp(before_abort, 1) == 0)
		abort();
	churn(400000);
	mark(AFTER);
	exit(12);
}

static const struct way {
	const char *name;
	void (*go)(void);
} ways[] = {
	{ "return", end_return },
	{ "exit", end_exit },
	{ "exit-in-thread", end_exit_in_thread },
	{ "_exit", end__exit },
	{ "_Exit", end__Exit },
	{ "quick_exit", end_quick_exit },
	{ "raw-exit", end_raw_exit },
	{ "abort", end_abort },
	{ "abort-caught", end_abort_caught },
	{ "segv", end_segv },
	{ "term", end_term },
	{ "kill", end_kill },
	{ "main-thread", end_main_thread },
	{ "busy", end_busy },
	{ "fork", fork_simple },
	{ "fork-exit", fork_exit },
	{ "fork-silent", fork_silent },
	{ "fork-in-thread", fork_in_thread },
	{ "fork-threads", fork_threads },
	{ "fork-inherit", fork_inherit },
	{ "fork-raw", fork_raw },
	{ "fork-async", fork_async },
	{ "fork-double", fork_double },
	{ "daemon", fork_daemon },
	{ "fork-storm", fork_storm },
	{ "fork-thread-storm", fork_thread_storm },
	{ "exec", exec_self },
	{ "exec-in-thread", exec_in_thread },
	{ "exec-fail", exec_fail },
	{ "exec-raw", exec_raw },
	{ "abort-jump", abort_jump },
	{ "exec-variants", exec_variants },
	{ "vfork", exec_vfork },
	{ "spawn", exec_spawn },
	{ "system", exec_system },
	{ "exec-clean", exec_clean },
	{ "image", exec_image },
};

int
main(int argc, char **argv)
{
	/* Some ways crash on purpose: write no core files. */
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	self = argv[0];
	churn(1000);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (argc == 2 && strcmp(argv[1], ways[i].name) == 0) {
			ways[i].go();
			return 0;
		}
	}
	fprintf(stderr, "lifecycle: which way?\n");
	return 2;
}
