/* SPDX-License-Identifier: MIT */
/*
 * puppet.c - make a process's writer thread do what an attacker would do
 *
 * usage: puppet PID FOLDER
 *
 * Controls the thread "hatftrace" of the process PID, as a debugger does, and
 * makes it issue system calls: open a file to read, create one in FOLDER and
 * one in '.', remove the first, connect by TCP and to the abstract socket
 * "puppet" (on which this program listens), send signal 0 to this program, and
 * execute /bin/true.  Prints a line for each: its name and "done" or the
 * error's name.  Exit status 77: this machine does not permit it.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

#define SYSCALL_NBYTES 2
/* Below the used part of the thread's stack. */
#define SCRATCH_OFF 8192

static pid_t tid;
static struct user_regs_struct regs;

static pid_t
find_writer(const char *pid)
{
	char path[PATH_MAX], name[32];
	pid_t found = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	d = opendir(path);
	for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/task/%s/comm", pid,
			 e->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(name, sizeof(name), f) != NULL &&
		    strcmp(name, "hatftrace\n") == 0)
			found = (pid_t)strtol(e->d_name, NULL, 10);
		fclose(f);
	}
	if (d != NULL)
		closedir(d);
	return found;
}

static void
check(int ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(77);
}

static void
await_stop(void)
{
	int status;

	check(waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status),
	      "no stop");
}

static uint64_t
put(const void *bytes, size_t nbytes, unsigned slot)
{
	const uint64_t at = (regs.rsp - SCRATCH_OFF + slot * 512) & ~7ull;
	long word;

	for (size_t i = 0; i < nbytes; i += sizeof(word)) {
		word = 0;
		memcpy(&word, (const char *)bytes + i,
		       nbytes - i < sizeof(word) ? nbytes - i : sizeof(word));
		check(ptrace(PTRACE_POKEDATA, tid, at + i, word) == 0, "poke");
	}
	return at;
}

static uint64_t
put_text(const char *text, unsigned slot)
{
	return put(text, strlen(text) + 1, slot);
}

static long
call(const char *name, long number, uint64_t a, uint64_t b, uint64_t c,
     uint64_t d)
{
	struct user_regs_struct r = regs;

	r.rax = (uint64_t)number;
	r.orig_rax = UINT64_MAX;
	r.rip -= SYSCALL_NBYTES;
	r.rdi = a;
	r.rsi = b;
	r.rdx = c;
	r.r10 = d;
	check(ptrace(PTRACE_SETREGS, tid, NULL, &r) == 0, "set");
	check(ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) == 0, "step");
	await_stop();
	check(ptrace(PTRACE_GETREGS, tid, NULL, &r) == 0, "get");
	if ((long)r.rax < 0)
		printf("%s %s\n", name, strerrorname_np(-(int)r.rax));
	else
		printf("%s done\n", name);
	fflush(stdout);
	return (long)r.rax;
}

static void
connect_to(const char *name, int family, const void *address, size_t nbytes)
{
	const long fd = call("socket", SYS_socket, (uint64_t)family,
			     SOCK_STREAM | SOCK_CLOEXEC, 0, 0);

	if (fd < 0)
		return;
	call(name, SYS_connect, (uint64_t)fd, put(address, nbytes, 0), nbytes,
	     0);
	call("close", SYS_close, (uint64_t)fd, 0, 0, 0);
}

static void
connect_both(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET };
	struct sockaddr_un abstract = { .sun_family = AF_UNIX };
	const int one = socket(AF_INET, SOCK_STREAM, 0);
	const int other = socket(AF_UNIX, SOCK_STREAM, 0);
	const socklen_t length = offsetof(struct sockaddr_un, sun_path) + 7;
	socklen_t nbytes = sizeof(here);

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(abstract.sun_path + 1, "puppet", 6);
	check(bind(one, (struct sockaddr *)&here, nbytes) == 0 &&
		      listen(one, 1) == 0 &&
		      getsockname(one, (struct sockaddr *)&here, &nbytes) == 0,
	      "listen");
	check(bind(other, (struct sockaddr *)&abstract, length) == 0 &&
		      listen(other, 1) == 0,
	      "listen");
	connect_to("tcp", AF_INET, &here, sizeof(here));
	connect_to("abstract", AF_UNIX, &abstract, length);
}

static void
open_files(const char *folder)
{
	char inside[PATH_MAX], outside[PATH_MAX], cwd[PATH_MAX - 16];

	check(getcwd(cwd, sizeof(cwd)) != NULL, "getcwd");
	snprintf(inside, sizeof(inside), "%s/puppet", folder);
	snprintf(outside, sizeof(outside), "%s/puppet", cwd);
	call("read", SYS_openat, (uint64_t)AT_FDCWD, put_text("/etc/passwd", 0),
	     O_RDONLY | O_CLOEXEC, 0);
	call("inside", SYS_openat, (uint64_t)AT_FDCWD, put_text(inside, 0),
	     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	call("remove", SYS_unlinkat, (uint64_t)AT_FDCWD, put_text(inside, 0), 0,
	     0);
	call("outside", SYS_openat, (uint64_t)AT_FDCWD, put_text(outside, 0),
	     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static void
execute(void)
{
	const uint64_t path = put_text("/bin/true", 0);
	const uint64_t arguments[2] = { path, 0 };

	call("execute", SYS_execve, path, put(arguments, sizeof(arguments), 1),
	     0, 0);
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	tid = find_writer(argv[1]);
	check(tid != 0, "no writer thread");
	check(ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0 &&
		      ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0,
	      "seize");
	await_stop();
	/* The thread sleeps, so it is inside a system call. */
	check(ptrace(PTRACE_GETREGS, tid, NULL, &regs) == 0, "get");
	open_files(argv[2]);
	connect_both();
	call("signal", SYS_kill, (uint64_t)getpid(), 0, 0, 0);
	execute();
	/* Let it return to where it was, from an interrupted call. */
	regs.rax = (uint64_t)-EINTR;
	regs.orig_rax = UINT64_MAX;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return 0;
}

#else

int
main(void)
{
	puts("not for this processor");
	return 77;
}

#endif
