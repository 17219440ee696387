/* SPDX-License-Identifier: MIT */
/*
 * exchange.c - exchange two names while a command runs
 *
 * usage: exchange N A B COMMAND [ARGUMENT...]
 *
 * Exchanges A and B when the command makes its Nth system call, whichever it
 * is.  The command cannot notice this.  The exit status is that of the command,
 * 99 if it ended before its Nth call or one of the names did not exist then, 98
 * if the names cannot be exchanged or the command cannot be traced.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENDED_BEFORE 99
#define IMPOSSIBLE   98

/* Continue to the next stop of any kind; false if the command has ended. */
static int
go_on(pid_t pid, int *status_ret)
{
	if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0 ||
	    waitpid(pid, status_ret, 0) != pid)
		err(IMPOSSIBLE, "cannot follow the command");
	return WIFSTOPPED(*status_ret);
}

int
main(int argc, char **argv)
{
	int status;

	if (argc < 5)
		errx(IMPOSSIBLE, "usage: exchange N A B COMMAND...");

	const long n = strtol(argv[1], NULL, 10);
	const pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[4], argv + 4);
		err(IMPOSSIBLE, "%s", argv[4]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		errx(IMPOSSIBLE, "cannot watch the command");
	/* Each call stops the command twice, before and after. */
	for (long i = 0; i < 2 * n - 1; i++)
		if (!go_on(pid, &status))
			return ENDED_BEFORE;
	if (syscall(SYS_renameat2, AT_FDCWD, argv[2], AT_FDCWD, argv[3],
		    RENAME_EXCHANGE) != 0) {
		const int error = errno;

		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		if (error == ENOENT)
			return ENDED_BEFORE;
		errx(IMPOSSIBLE, "%s, %s", argv[2], argv[3]);
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	if (waitpid(pid, &status, 0) != pid)
		return IMPOSSIBLE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
