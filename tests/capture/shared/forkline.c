/* SPDX-License-Identifier: MIT */
/*
 * forkline.c - a chain of children, of which only the first and last allocate
 *
 *   forkline WAYS DIRECTORY
 *
 * Makes DIRECTORY after its first allocations; then forks for each letter of
 * WAYS: 'f' by fork(), 'r' by the system call.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	void *volatile p = malloc(10);

	free(p);
	if (argc != 3)
		return 2;
	mkdir(argv[2], 0777);
	for (const char *way = argv[1]; *way != '\0'; way++) {
		const pid_t child =
			*way == 'f' ? fork()
				    : (pid_t)syscall(SYS_clone, SIGCHLD, NULL,
						     NULL, NULL, NULL);
		int status = 1;

		if (child < 0)
			return 1;
		if (child == 0)
			continue;
		waitpid(child, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	p = malloc(20);
	free(p);
	_exit(0);
}
