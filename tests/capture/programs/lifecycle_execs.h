/* SPDX-License-Identifier: MIT */
/*
 * lifecycle_execs.h - the ways of lifecycle.c to run another image
 */
#ifndef LIFECYCLE_EXECS_H
#define LIFECYCLE_EXECS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>

#include "lifecycle.h"

extern char **environ;
static const char *self; /* argv[0] */

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

/*
 * Every function of the family fails, and the program continues.  The recorder
 * ends the trace before an exec of "/", which exists, and not before an exec of
 * a missing file.
 */
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
	need(execv("/", argv) == -1, "execv");
	churn(10);
	need(execvp("none-of-that-name", argv) == -1, "execvp");
	churn(10);
	need(execvpe("none-of-that-name", argv, environ) == -1, "execvpe");
	churn(10);
	need(execve("/", argv, environ) == -1, "execve");
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

#endif /* LIFECYCLE_EXECS_H */
