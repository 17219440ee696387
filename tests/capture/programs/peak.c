/* SPDX-License-Identifier: MIT */
/*
 * peak.c - run commands as a pipeline and print the peak memory of each, in KiB
 *
 *   peak COMMAND [ARG...] [-- COMMAND [ARG...]]...
 *
 * This program is small, because a command's peak is at least that of the
 * process that started it.  The output of the last command is discarded.  Exit
 * status 1 if a command fails.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMANDS_MAX 8

/* Start a command that reads from 'in'; return the input of the next one. */
static int
start(char **argv, int in, int is_last, pid_t *pid_ret)
{
	int ends[2];

	if (pipe(ends) != 0)
		exit(2);
	*pid_ret = fork();
	if (*pid_ret == 0) {
		dup2(in, 0);
		dup2(is_last ? open("/dev/null", O_WRONLY) : ends[1], 1);
		close(in);
		close(ends[0]);
		close(ends[1]);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(in);
	close(ends[1]);
	return ends[0];
}

int
main(int argc, char **argv)
{
	pid_t pids[COMMANDS_MAX];
	int in = open("/dev/null", O_RDONLY);
	int count = 0, failed = 0;

	for (int i = 1; i < argc && count < COMMANDS_MAX; count++) {
		char **const command = argv + i;

		while (i < argc && strcmp(argv[i], "--") != 0)
			i++;

		const int is_last = i == argc;

		argv[i++] = NULL;
		in = start(command, in, is_last, &pids[count]);
	}
	for (int i = 0; i < count; i++) {
		struct rusage use;
		int status;

		if (wait4(pids[i], &status, 0, &use) < 0)
			return 2;
		failed |= status != 0;
		printf("%ld\n", use.ru_maxrss);
	}
	return failed;
}
