/* SPDX-License-Identifier: MIT */
/*
 * events.c - very many heap events, and the process's memory meanwhile
 *
 *   events MILLIONS LIVE SAMPLES
 *
 * Makes MILLIONS million events with at most LIVE live objects: each step frees
 * a random one and allocates 16 to 528 bytes in its place; one step in 16 is a
 * realloc.  At SAMPLES even intervals prints a line: millions of events so far,
 * seconds, then RssAnon, RssShmem, RssFile, VmRSS and VmHWM of the process in
 * KiB.
 *
 * Only the loop allocates: samples are taken with plain system calls.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t seed = 88172645463325252u;

static uint64_t
next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static double
now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static unsigned long
status_kib(const char *status, const char *name)
{
	const char *const line = strstr(status, name);

	return line == NULL ? 0 : strtoul(line + strlen(name), NULL, 10);
}

static void
print_sample(uint64_t event_count, double start_s)
{
	char status[4096], line[160];
	const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	const ssize_t nbytes = read(fd, status, sizeof(status) - 1);

	close(fd);
	if (nbytes <= 0)
		abort();
	status[nbytes] = '\0';

	const int length = snprintf(
		line, sizeof(line), "%llu %.2f %lu %lu %lu %lu %lu\n",
		(unsigned long long)(event_count / 1000000), now_s() - start_s,
		status_kib(status, "\nRssAnon:"),
		status_kib(status, "\nRssShmem:"),
		status_kib(status, "\nRssFile:"),
		status_kib(status, "\nVmRSS:"), status_kib(status, "\nVmHWM:"));

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		abort();
}

/* Do one step; return how many events it made. */
static unsigned
step(void **live, uint64_t live_count)
{
	const uint64_t n = next_random();
	void **const slot = &live[(n >> 32) % live_count];
	const size_t size_nbytes = 16 + n % 513;
	const unsigned taken = *slot != NULL && n >> 60 != 0 ? 2 : 1;

	if (n >> 60 == 0) {
		*slot = realloc(*slot, size_nbytes);
	} else {
		free(*slot);
		*slot = malloc(size_nbytes);
	}
	if (*slot == NULL)
		abort();
	*(volatile char *)*slot = 1;
	return taken;
}

int
main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: events MILLIONS LIVE SAMPLES\n");
		return 2;
	}

	const uint64_t event_count = strtoull(argv[1], NULL, 10) * 1000000;
	const uint64_t live_count = strtoull(argv[2], NULL, 10);
	const uint64_t stride = event_count / strtoull(argv[3], NULL, 10);
	void **const live =
		mmap(NULL, live_count * sizeof(*live), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (live == MAP_FAILED)
		abort();

	const double start_s = now_s();
	uint64_t sample_at = stride;

	for (uint64_t done = 0; done < event_count;) {
		done += step(live, live_count);
		if (done >= sample_at) {
			print_sample(done, start_s);
			sample_at += stride;
		}
	}
	return 0;
}
