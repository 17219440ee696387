/* SPDX-License-Identifier: MIT */
/*
 * belated.c - remove what a trace needs before it has begun
 *
 * usage: belated HOW DIRECTORY
 *
 * Allocates too little for a trace file; then removes something, and allocates
 * more.  HOW is
 *
 *   files      limit descriptors
 *   size       limit the size of files
 *   both       limit both
 *   prlimit    as 'files', by another function
 *   raw        as 'files', by syscall(3)
 *   barefiles  as 'files', by the system call instruction itself
 *   baresize   as 'size', by the instruction itself
 *   bareroot   make DIRECTORY the root directory, by the instruction itself
 *   mount      mount something over DIRECTORY, in namespaces of its own
 *   rawmount   the same by syscall(3)
 *   child      a child by clone(2) that shares the root directory changes it
 *   shared     the same, and the child shares the memory, too
 *   looked     as 'child'; then prints its number of threads
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static _Alignas(16) char stack[1 << 16];

static unsigned long
work(unsigned n)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < n; i++) {
		void *const p = malloc(i % 300 + 1);

		sum += p != NULL ? i % 300 : 0;
		free(p);
	}
	return sum;
}

static int
change_root(void *directory)
{
	return chroot(directory) != 0;
}

static int
share(int flags, char *directory)
{
	const int pid = clone(change_root, stack + sizeof(stack),
			      flags | CLONE_FS | SIGCHLD, directory);
	int status = 1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static long
call_barely(long number, long a, long b, const void *c)
{
	long result = -1;

#if defined(__x86_64__)
	register long r10 __asm__("r10") = 0;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register const void *x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = 0;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
			 : "memory");
	result = x0;
#endif
	return result;
}

/*
 * As 'child'.  The recorder needs its writer thread now, which fails to begin.
 * Count the process's threads afterwards, by no function of libc.
 */
static int
share_and_look(char *directory)
{
	const int tasks = open("/proc/self/task", O_PATH | O_DIRECTORY);
	struct stat st;

	if (tasks < 0 || share(0, directory) != 0 || setresuid(0, 0, 0) != 0 ||
	    call_barely(SYS_fstat, tasks, (long)&st, NULL) != 0)
		return -1;
	printf("%d threads\n", (int)st.st_nlink - 2);
	return 0;
}

static int
take_away(const char *how, char *directory)
{
	const struct rlimit none = { 0, 0 };

	if (strcmp(how, "size") == 0)
		return setrlimit(RLIMIT_FSIZE, &none);
	if (strcmp(how, "files") == 0)
		return setrlimit(RLIMIT_NOFILE, &none);
	if (strcmp(how, "both") == 0)
		return setrlimit(RLIMIT_FSIZE, &none) != 0
			       ? -1
			       : setrlimit(RLIMIT_NOFILE, &none);
	if (strcmp(how, "prlimit") == 0)
		return prlimit(0, RLIMIT_NOFILE, &none, NULL);
	if (strcmp(how, "raw") == 0)
		return (int)syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &none,
				    NULL);
	if (strcmp(how, "barefiles") == 0)
		return (int)call_barely(SYS_prlimit64, 0, RLIMIT_NOFILE, &none);
	if (strcmp(how, "baresize") == 0)
		return (int)call_barely(SYS_prlimit64, 0, RLIMIT_FSIZE, &none);
	if (strcmp(how, "bareroot") == 0)
		return (int)call_barely(SYS_chroot, (long)directory, 0, NULL);
	if (strcmp(how, "mount") == 0)
		return mount("none", directory, "tmpfs", 0, NULL);
	if (strcmp(how, "rawmount") == 0)
		return (int)syscall(SYS_mount, "none", directory, "tmpfs", 0,
				    NULL);
	if (strcmp(how, "child") == 0)
		return share(0, directory);
	if (strcmp(how, "looked") == 0)
		return share_and_look(directory);
	if (strcmp(how, "shared") == 0)
		return share(CLONE_VM | CLONE_VFORK, directory);
	return -1;
}

int
main(int argc, char **argv)
{
	unsigned long sum = work(100);

	if (argc < 3 || take_away(argv[1], argv[2]) != 0)
		return 2;
	sum += work(50000);
	printf("%lu\n", sum);
	return 0;
}
