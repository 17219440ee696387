/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - begin, fork, exec and end in every way
 *
 * The argument names the way.  A process makes known numbers of events before
 * and after that moment; allocations of the sizes BEFORE and AFTER mark it for
 * the script.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEFORE 30001
#define AFTER  30002

extern char **environ;
static const char *self;
static void *kept[1000];

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

/* ------------------------------------------------------------------ ends */

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
	pthread_t t;

	pthread_create(&t, NULL, start_exit, kept);
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

static void *
start_straggler(void *arg)
{
	usleep(50000);
	churn(1000);
	mark(AFTER);
	return arg;
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

/* ----------------------------------------------------------------- forks */

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

/* ----------------------------------------------------------------- execs */

static void
exec_self(void)
{
	churn(100);
	execl("/proc/self/exe", self, "image", (char *)NULL);
	_exit(98);
}

static void *
start_exec(void *arg)
{
	churn(100);
	execl("/proc/self/exe", self, "image", (char *)NULL);
	return arg;
}

/* Call the kernel, not libc, with libc's environment. */
static void
exec_raw(void)
{
	char *argv[] = { "lifecycle", "image", NULL };

	syscall(SYS_execve, "/proc/self/exe", argv, environ);
	_exit(98);
}

static void
exec_in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, start_exec, NULL);
	pthread_join(t, NULL);
	_exit(98);
}

/* Every function of the family fails, and the program continues. */
static void
exec_fail(void)
{
	char *argv[] = { "none", NULL };

	mark(BEFORE);
	errno = 0;
	need(execl("/nonexistent/none", "none", (char *)NULL) == -1, "execl");
	need(errno == ENOENT, "errno of execl");
	churn(10);
	need(execlp("none-of-that-name", "none", (char *)NULL) == -1, "execlp");
	churn(10);
	need(execle("/", "none", (char *)NULL, environ) == -1, "execle");
	need(errno == EACCES, "errno of execle");
	churn(10);
	need(execv("/nonexistent/none", argv) == -1, "execv");
	churn(10);
	need(execvp("none-of-that-name", argv) == -1, "execvp");
	churn(10);
	need(execvpe("none-of-that-name", argv, environ) == -1, "execvpe");
	churn(10);
	need(execve("/nonexistent/none", argv, environ) == -1, "execve");
	churn(10);
	need(syscall(SYS_execve, "/nonexistent/none", argv, environ) == -1,
	     "execve by number");
	need(errno == ENOENT, "errno of execve by number");
	churn(10);
	need(syscall(SYS_execveat, AT_FDCWD, "", argv, environ, 0) == -1,
	     "execveat by number");
	/* More than the rings can hold: no thread may wait for the writer. */
	churn(400000);
	need(fexecve(open("/", O_RDONLY), argv, environ) == -1, "fexecve");
	churn(1000);
	mark(AFTER);
	exit(12);
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

static void
exec_by(int way)
{
	char *argv[] = { "true", NULL };

	switch (way) {
	case 0:
		execl("/bin/true", "true", (char *)NULL);
		break;
	case 1:
		execlp("true", "true", (char *)NULL);
		break;
	case 2:
		execle("/bin/true", "true", (char *)NULL, environ);
		break;
	case 3:
		execv("/bin/true", argv);
		break;
	case 4:
		execvp("true", argv);
		break;
	case 5:
		execvpe("true", argv, environ);
		break;
	case 6:
		execve("/bin/true", argv, environ);
		break;
	case 7:
		fexecve(open("/bin/true", O_RDONLY), argv, environ);
		break;
	default:
		execveat(AT_FDCWD, "/bin/true", argv, environ, 0);
	}
}

static void
exec_variants(void)
{
	for (int way = 0; way < 9; way++) {
		const pid_t pid = fork();

		if (pid == 0) {
			churn(100 + 2 * way);
			exec_by(way);
			_exit(1);
		}
		need(wait_for(pid) == 0, "exec");
	}
	_exit(0);
}

static void
exec_vfork(void)
{
	volatile int events = 20;
	pid_t pid;

	mark(BEFORE);
	for (int i = 0; i < 20; i++) {
		pid = vfork();
		if (pid == 0) {
			churn(events); /* in the parent's heap and trace */
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		need(wait_for(pid) == 0, "vfork");
	}
	pid = vfork();
	if (pid == 0) {
		execl("/nonexistent/none", "none", (char *)NULL);
		_exit(17);
	}
	need(wait_for(pid) == 17, "vfork, failed exec");
	mark(AFTER);
	churn(100);
	exit(0);
}

static void
exec_spawn(void)
{
	char *argv[] = { "true", NULL };
	pid_t pid;

	mark(BEFORE);
	for (int i = 0; i < 20; i++) {
		need(posix_spawn(&pid, "/bin/true", NULL, NULL, argv,
				 environ) == 0,
		     "posix_spawn");
		need(wait_for(pid) == 0, "spawned program");
	}
	need(posix_spawn(&pid, "/nonexistent/none", NULL, NULL, argv,
			 environ) == ENOENT,
	     "posix_spawn of nothing");
	need(posix_spawnp(&pid, "true", NULL, NULL, argv, environ) == 0,
	     "posix_spawnp");
	need(wait_for(pid) == 0, "spawned program");
	mark(AFTER);
	exit(0);
}

static void
exec_system(void)
{
	char line[100];
	FILE *pipe;

	mark(BEFORE);
	need(system("exit 7") == 7 << 8, "system");
	pipe = popen("echo hello", "r");
	need(pipe != NULL && fgets(line, sizeof(line), pipe) != NULL &&
		     strcmp(line, "hello\n") == 0 && pclose(pipe) == 0,
	     "popen");
	mark(AFTER);
	exit(0);
}

/* The second image must not be traced: remove LD_PRELOAD. */
static void
exec_clean(void)
{
	char *argv[] = { "lifecycle", "image", NULL };
	char *env[] = { "A=1", NULL };

	execve("/proc/self/exe", argv, env);
	_exit(98);
}

static void
exec_image(void)
{
	churn(200);
	exit(0);
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
