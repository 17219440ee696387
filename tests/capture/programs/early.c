/* SPDX-License-Identifier: MIT */
/*
 * early.c - fork, kill or exit while the first writer thread starts
 *
 *   early handler USECONDS  a handler forks during one of many calls
 *   early kill N LIBRARY    is killed after N or more calls have returned;
 *                           prints how many the victim has counted
 *   early spawn             a thread starts children, sleep(1), while main
 *                           exits
 *   early bare              a child shares memory and root directory, but has
 *                           thread-local storage of its own, all zeros; it
 *                           calls chroot
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile sig_atomic_t has_forked;

static void
fork_now(int number)
{
	const pid_t child = _Fork();

	(void)number;
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	has_forked = 1;
}

static int
handler(long useconds)
{
	const struct itimerval once = { { 0, 0 }, { 0, useconds } };

	signal(SIGALRM, fork_now);
	setitimer(ITIMER_REAL, &once, NULL);
	for (int i = 0; i < 1800 && !has_forked; i++) {
		void *volatile p = malloc(777);

		free(p);
	}
	while (!has_forked)
		;
	return 5;
}

/* The victim, which is traced, counts in shared memory. */
static void
victim(volatile unsigned long *returned, const char *library, char **argv)
{
	setenv("LD_PRELOAD", library, 1);
	execv("/proc/self/exe", (char *[]){ argv[0], (char *)"victim", NULL });
	(void)returned;
	_exit(1);
}

static int
count(void)
{
	volatile unsigned long *const returned =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);

	if (returned == MAP_FAILED)
		return 1;
	for (;;) {
		void *volatile p = malloc(777);

		free(p);
		++*returned;
	}
}

static int
kill_at(unsigned long n, char **argv)
{
	FILE *const file = tmpfile();
	volatile unsigned long *returned;
	pid_t child;

	if (file == NULL || ftruncate(fileno(file), 4096) != 0)
		return 1;
	dup2(fileno(file), 3);
	returned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
	child = fork();
	if (child == 0)
		victim(returned, argv[3], argv);
	while (*returned < n && waitpid(child, NULL, WNOHANG) == 0)
		;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("%lu\n", *returned);
	return 0;
}

static void *
start_children(void *unused)
{
	static char *const sleep_argv[] = { (char *)"sleep", (char *)"20",
					    NULL };

	for (unsigned i = 0; i < 256; i++)
		if (posix_spawnp(NULL, "sleep", NULL, NULL, sleep_argv,
				 environ) != 0)
			break;
	return unused;
}

static int
spawn(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, start_children, NULL) != 0)
		return 1;
	usleep(3000);
	exit(0);
}

/* Call chroot() in the same way as Chromium's sandbox. */
static int
change_root(void *unused)
{
	(void)unused;
	_exit(chroot("/proc/self/fdinfo/") == 0 && chdir("/") == 0 ? 66 : 1);
}

static int
bare(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	static char local[65536] __attribute__((aligned(64)));
	const pid_t child = clone(change_root, stack + sizeof(stack),
				  CLONE_FS | CLONE_VM | CLONE_VFORK |
					  CLONE_SETTLS | SIGCHLD,
				  NULL, NULL, local + sizeof(local) / 2);
	int status = 0;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "bare") == 0)
		return bare();
	if (argc == 3 && strcmp(argv[1], "handler") == 0)
		return handler(atol(argv[2]));
	if (argc == 4 && strcmp(argv[1], "kill") == 0)
		return kill_at(strtoul(argv[2], NULL, 10), argv);
	if (argc == 2 && strcmp(argv[1], "victim") == 0)
		return count();
	return argc == 2 && strcmp(argv[1], "spawn") == 0 ? spawn() : 2;
}
