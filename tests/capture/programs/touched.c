/* SPDX-License-Identifier: MIT */
/*
 * touched.c - print which of some files a command opens
 *
 * usage: touched FILE... -- COMMAND [ARGUMENT...]
 *
 * Writes the name of each FILE that was opened while the command ran, one on
 * each line, to standard error, and exits with the command's status.  O_PATH
 * and stat() do not count as opening a FIFO or a device.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_MAX 64

static void
print_opened(int fd, char **files, const int *watches, int count)
{
	_Alignas(struct inotify_event) char buf[4096];
	const ssize_t n = read(fd, buf, sizeof(buf));
	const struct inotify_event *e;

	for (ssize_t at = 0; at < n; at += (ssize_t)sizeof(*e) + e->len) {
		e = (const struct inotify_event *)(buf + at);
		for (int i = 0; i < count; i++)
			if (watches[i] == e->wd)
				fprintf(stderr, "opened: %s\n", files[i]);
	}
}

int
main(int argc, char **argv)
{
	const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	int watches[FILES_MAX], count = 0, status;

	for (char **file = argv + 1; count < argc - 1; file++) {
		if (strcmp(*file, "--") == 0)
			break;
		if (count == FILES_MAX)
			errx(98, "too many files");
		watches[count] = inotify_add_watch(fd, *file, IN_OPEN);
		if (watches[count++] < 0)
			err(98, "%s", *file);
	}
	if (argc < count + 3)
		errx(98, "usage: touched FILE... -- COMMAND...");

	char **const command = argv + count + 2;
	const pid_t pid = fork();

	if (pid == 0) {
		execvp(*command, command);
		err(98, "%s", *command);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(98, "%s", *command);
	print_opened(fd, argv + 1, watches, count);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
