/* SPDX-License-Identifier: MIT */
/*
 * shortlived.c - many threads with short lives
 *
 *	shortlived THREADS AT-ONCE PAIRS COUNTERS [RINGS]
 *
 * Makes THREADS threads, AT-ONCE at a time, each of which allocates PAIRS
 * blocks of 5000 bytes and frees each of them.  The file COUNTERS, which
 * survives a kill, has two numbers of 64 bits: allocations that have returned,
 * and frees that have been called.  With RINGS, the recorder's ring file,
 * prints a line after a tenth of the threads and one after the last: bytes that
 * the file takes on the disk, and its mappings.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT_ONCE_MAX 256
#define BLOCK	    5000

static struct counters {
	_Atomic uint64_t allocated, freed;
} * counters;

static unsigned pairs;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static void *
live_shortly(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < pairs; i++) {
		void *const p = malloc(BLOCK);

		/* relaxed, both: the counts are read only at the end. */
		atomic_fetch_add_explicit(&counters->allocated, 1,
					  memory_order_relaxed);
		atomic_fetch_add_explicit(&counters->freed, 1,
					  memory_order_relaxed);
		free(p);
	}
	return NULL;
}

static void
open_counters(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*counters)) != 0)
		die(path);
	counters = mmap(NULL, sizeof(*counters), PROT_READ | PROT_WRITE,
			MAP_SHARED, fd, 0);
	if (counters == MAP_FAILED)
		die(path);
	close(fd);
}

/* Without an allocation, which would show in the trace. */
static unsigned
count_mappings(const char *path)
{
	static char text[4 << 20];
	const char *const base = strrchr(path, '/');
	const int fd = open("/proc/self/maps", O_RDONLY);
	size_t used = 0;
	unsigned count = 0;
	ssize_t n;

	while ((n = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	text[used] = '\0';
	for (const char *at = text;
	     (at = strstr(at, base != NULL ? base : path)) != NULL; at++)
		count++;
	return count;
}

static void
report(const char *path)
{
	char line[128];
	struct stat st;
	int n;

	if (path == NULL || stat(path, &st) != 0)
		return;
	n = snprintf(line, sizeof(line), "%lld %u\n",
		     (long long)st.st_blocks * 512, count_mappings(path));
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		die("write");
}

int
main(int argc, char **argv)
{
	if (argc < 5)
		return 2;

	const unsigned threads = (unsigned)atoi(argv[1]);
	const unsigned at_once = (unsigned)atoi(argv[2]);
	const char *const rings = argc > 5 ? argv[5] : NULL;
	pthread_t ids[AT_ONCE_MAX];
	bool reported = false;

	if (at_once == 0 || at_once > AT_ONCE_MAX)
		return 2;
	pairs = (unsigned)atoi(argv[3]);
	open_counters(argv[4]);
	for (unsigned made = 0; made < threads; made += at_once) {
		for (unsigned i = 0; i < at_once; i++)
			if (pthread_create(&ids[i], NULL, live_shortly, NULL) !=
			    0)
				die("pthread_create");
		for (unsigned i = 0; i < at_once; i++)
			pthread_join(ids[i], NULL);
		if (!reported && made >= threads / 10) {
			report(rings);
			reported = true;
		}
	}
	report(rings);
	return 0;
}
