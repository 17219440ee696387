/* SPDX-License-Identifier: MIT */
/*
 * end_during_calls.c - processes that end during something else
 *
 * The argument selects the way: see end-during-calls.sh.  Each way makes some
 * events first; their sizes tell what happened in which order.
 */
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static void (*handle)(void);

static void
churn(int n)
{
	for (int i = 0; i < n; i += 2)
		free(malloc(64));
}

/* ------------------------------- from a handler that interrupts malloc() */

static void
on_alarm(int number)
{
	(void)number;
	handle();
}

static void
interrupt_with(void (*f)(void))
{
	const struct itimerval soon = { .it_value = { .tv_usec = 3000 } };
	struct sigaction action = { .sa_handler = on_alarm };

	handle = f;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (void *p = NULL;; p = realloc(p, 1 + (size_t)rand() % 5000))
		churn(2);
}

static void
do_exit(void)
{
	exit(21);
}

static void
do__exit(void)
{
	_exit(22);
}

static void
do_quick_exit(void)
{
	quick_exit(23);
}

static void
do_exec(void)
{
	execl("/bin/true", "true", (char *)NULL);
	_exit(98);
}

static void
handler_exit(void)
{
	interrupt_with(do_exit);
}

static void
handler__exit(void)
{
	interrupt_with(do__exit);
}

static void
handler_quick_exit(void)
{
	interrupt_with(do_quick_exit);
}

static void
handler_abort(void)
{
	interrupt_with(abort);
}

static void
handler_exec(void)
{
	interrupt_with(do_exec);
}

/* --------------------------------------- a second way to end, at the end */

static void
at_exit_abort(void)
{
	atexit(abort);
	churn(100);
}

static int unloading;

__attribute__((destructor)) static void
at_unload(void)
{
	churn(10);
	if (unloading)
		abort();
}

static void
destructor_abort(void)
{
	unloading = 1;
	exit(0);
}

static void
at_exit__exit(void)
{
	atexit(do__exit);
}

static void
at_exit_exec(void)
{
	atexit(do_exec);
}

static void
at_quick_exit_abort(void)
{
	at_quick_exit(abort);
	quick_exit(0);
}

static void
assertion(void)
{
	const volatile int zero = 0;

	assert(zero == 1);
}

static void
error(void)
{
	err(24, "that was it");
}

/* --------------------------------------------------------------- threads */

static pthread_barrier_t barrier;

static void *
start_exit(void *arg)
{
	pthread_barrier_wait(&barrier);
	exit(25);
	return arg;
}

/* POSIX leaves this undefined; some programs do it. */
static void
exit_twice(void)
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, start_exit, NULL);
	start_exit(NULL);
}

static void *
start_endless(void *arg)
{
	for (void *p = NULL;; p = realloc(p, 1 + (size_t)rand() % 5000))
		churn(20);
	return arg;
}

static void
be_busy(void)
{
	pthread_t t;

	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, start_endless, NULL);
	usleep(10000);
}

static void
busy_exit(void)
{
	be_busy();
	do_exit();
}

static void
busy__exit(void)
{
	be_busy();
	do__exit();
}

static void
busy_quick_exit(void)
{
	be_busy();
	do_quick_exit();
}

static void
busy_abort(void)
{
	be_busy();
	abort();
}

static void
busy_exec(void)
{
	be_busy();
	do_exec();
}

/* An exec fails while other threads allocate; they continue. */
static void
busy_exec_fails(void)
{
	be_busy();
	for (int i = 0; i < 3; i++) {
		execl("/", "none", (char *)NULL);
		usleep(10000);
	}
	exit(26);
}

static void *
start_leaving(void *arg)
{
	usleep(10000);
	churn(100);
	pthread_exit(arg);
}

/* Each thread exits by itself, and the last one ends the process. */
static void
all_leave(void)
{
	pthread_t t;

	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, start_leaving, NULL);
	pthread_exit(NULL);
}

static void *
start_cancel(void *arg)
{
	pthread_cancel(*(pthread_t *)arg);
	churn(100);
	return NULL;
}

static void
main_cancelled(void)
{
	static pthread_t self;
	pthread_t t;

	self = pthread_self();
	pthread_create(&t, NULL, start_cancel, &self);
	for (;;)
		pause();
}

/* ---------------------------------------- children that share our memory */

static int
vm_child(void *how)
{
	churn(100);
	if (how == NULL)
		return 0;
	execl("/bin/true", "true", (char *)NULL);
	return 1;
}

/* The child shares the heap and runs beside its parent. */
static void
vm_children(void)
{
	static char stack[2][256 << 10];
	int status;

	for (int i = 0; i < 2; i++) {
		const pid_t pid = clone(vm_child, stack[i] + sizeof(stack[i]),
					CLONE_VM | SIGCHLD,
					i == 0 ? NULL : (void *)handle);

		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			_exit(99);
	}
	churn(30);
	exit(27);
}

/* -------------------------------------------------------- a child's ends */

static void
segv(void)
{
	*(volatile int *)(uintptr_t)8 = 1;
}

static void
terminate(void)
{
	raise(SIGTERM);
}

static void
syscall_exit(void)
{
	syscall(SYS_exit_group, 28);
}

static void
syscall_exec(void)
{
	char *argv[] = { "true", NULL };

	syscall(SYS_execve, "/nonexistent", argv, environ);
	churn(20);
	syscall(SYS_execve, "/bin/true", argv, environ);
	_exit(98);
}

/* End by a direct system call. */
static void
raw_exit(void)
{
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(9) : "memory");
}

static void
return_(void)
{
}

static const struct way {
	const char *name;
	void (*go)(void);
} ways[] = {
	{ "return", return_ },
	{ "handler-exit", handler_exit },
	{ "handler-_exit", handler__exit },
	{ "handler-quick_exit", handler_quick_exit },
	{ "handler-abort", handler_abort },
	{ "handler-exec", handler_exec },
	{ "atexit-abort", at_exit_abort },
	{ "destructor-abort", destructor_abort },
	{ "atexit-_exit", at_exit__exit },
	{ "atexit-exec", at_exit_exec },
	{ "at_quick_exit-abort", at_quick_exit_abort },
	{ "assert", assertion },
	{ "err", error },
	{ "exit-twice", exit_twice },
	{ "busy-exit", busy_exit },
	{ "busy-_exit", busy__exit },
	{ "busy-quick_exit", busy_quick_exit },
	{ "busy-abort", busy_abort },
	{ "busy-exec", busy_exec },
	{ "busy-exec-fails", busy_exec_fails },
	{ "all-leave", all_leave },
	{ "main-cancelled", main_cancelled },
	{ "vm-children", vm_children },
	{ "segv", segv },
	{ "term", terminate },
	{ "syscall-exit", syscall_exit },
	{ "syscall-exec", syscall_exec },
	{ "raw-exit", raw_exit },
};

/* "fork-WAY": a child ends so, and its status becomes the parent's. */
static void
go(const char *name)
{
	const struct rlimit none = { 0, 0 };
	int status;

	setrlimit(RLIMIT_CORE, &none);
	churn(1000);
	if (strncmp(name, "fork-", 5) == 0) {
		const pid_t pid = fork();

		if (pid != 0) {
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				continue;
			_exit(WIFEXITED(status) ? WEXITSTATUS(status)
						: 128 + WTERMSIG(status));
		}
		churn(300);
		name += 5;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(name, ways[i].name) == 0) {
			ways[i].go();
			return;
		}
	}
	_exit(2);
}

int
main(int argc, char **argv)
{
	handle = do_exit;
	if (argc == 2)
		go(argv[1]);
	return 0;
}
