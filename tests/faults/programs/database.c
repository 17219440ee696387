/* SPDX-License-Identifier: MIT */
/* database.c - a file has the number of standard error, and the disk is full */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int
main(void)
{
	const struct rlimit limit = { 2000, 2000 };

	close(STDERR_FILENO);
	const int fd = open("database", O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd != STDERR_FILENO || write(fd, "DB", 2) != 2)
		return 2;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (size_t i = 0; i < 200000; i++)
		free(malloc((size_t)rand() % 99999));
	return lseek(fd, 0, SEEK_END) == 2 ? 0 : 1;
}
