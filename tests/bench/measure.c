/* SPDX-License-Identifier: MIT */
/*
 * measure.c - run a command and report its cost
 *
 *   measure RESULT COMMAND [ARGUMENT]...
 *
 * Writes one line to the file RESULT: wall time and CPU time (user and system,
 * of the command and of the descendants it waited for) in ns, peak resident
 * memory in KiB, exit status.  Shared mappings count as resident memory, so a
 * tracer's buffers are included.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t
timeval_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000000 + (uint64_t)tv->tv_usec * 1000;
}

static int
exit_status(int wstatus)
{
	return WIFEXITED(wstatus) ? WEXITSTATUS(wstatus)
				  : 128 + WTERMSIG(wstatus);
}

int
main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: measure RESULT COMMAND...\n");
		return 2;
	}

	const uint64_t start_ns = now_ns();
	/* vfork: the child's peak must not include a copy of our memory. */
	const pid_t child = vfork();

	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}

	int wstatus;
	struct rusage usage;

	if (child < 0 || wait4(child, &wstatus, 0, &usage) != child) {
		perror("measure");
		return 1;
	}

	const uint64_t wall_ns = now_ns() - start_ns;
	const uint64_t cpu_ns =
		timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
	const int status = exit_status(wstatus);
	FILE *const out = fopen(argv[1], "w");

	if (out == NULL) {
		perror(argv[1]);
		return 1;
	}
	fprintf(out, "%llu %llu %ld %d\n", (unsigned long long)wall_ns,
		(unsigned long long)cpu_ns, usage.ru_maxrss, status);
	if (fclose(out) != 0) {
		perror(argv[1]);
		return 1;
	}
	return status;
}
