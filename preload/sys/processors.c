/* SPDX-License-Identifier: MIT */
/* processors.c - see processors.h */

#include "preload/sys/processors.h"

#include <fcntl.h>
#include <string.h>

#include "preload/sys/filter.h"
#include "preload/sys/sys.h"

/* "0.20 0.18 0.12 3/80 11206" */
#define LOADAVG_NBYTES 128
/* Maximum number of processors that can be counted. */
#define PROCESSORS_MAX 8192

/*
 * Return how many threads of the system are ready to run: the number before the
 * slash in /proc/loadavg.  Return 0 if it cannot be read.
 */
static unsigned
count_ready(void)
{
	char line[LOADAVG_NBYTES];
	/*
	 * O_NONBLOCK: do not wait, even if something else, such as a FIFO, is
	 * mounted at this path.
	 */
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/loadavg",
				    O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned count = 0;
	const char *p;
	long n;

	if (fd < 0)
		return 0;
	n = syscall(SYS_read, fd, line, sizeof(line) - 1);
	syscall(SYS_close, fd);
	line[n > 0 ? n : 0] = '\0';
	p = strchr(line, '/');
	while (p != NULL && p > line && p[-1] != ' ')
		p--;
	for (; p != NULL && *p >= '0' && *p <= '9'; p++)
		count = count * 10 + (unsigned)(*p - '0');
	return count;
}

/* Return how many processors the calling thread may use; 0: not known. */
static unsigned
count_processors(void)
{
	uint64_t mask[PROCESSORS_MAX / 64];
	const long n = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
	unsigned count = 0;

	for (long i = 0; i < n / (long)sizeof(mask[0]); i++)
		count += (unsigned)__builtin_popcountll(mask[i]);
	return count;
}

bool
processors_are_busy(void)
{
	unsigned count;

	if (filter_is_installed())
		return false;
	count = count_processors();
	return count != 0 && count_ready() > count;
}
