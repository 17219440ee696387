/* SPDX-License-Identifier: MIT */
/*
 * longrun.c - a program that allocates for any length of time
 *
 *	longrun EVENTS [LIVE]
 *
 * Makes EVENTS events with about LIVE/2 blocks live, in constant memory, and
 * prints ten times how much memory the process has (kB, VmRSS and VmHWM).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long
status_kb(const char *key)
{
	char text[4096];
	const int fd = open("/proc/self/status", O_RDONLY);
	const ssize_t n = read(fd, text, sizeof(text) - 1);
	const char *p;

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, key);
	return p != NULL ? atol(p + strlen(key)) : -1;
}

static void
print_memory(uint64_t done)
{
	char line[200];
	const int n =
		snprintf(line, sizeof(line), "events %llu rss %ld hwm %ld\n",
			 (unsigned long long)done, status_kb("VmRSS:"),
			 status_kb("VmHWM:"));

	if (write(1, line, (size_t)n) != n)
		exit(1);
}

int
main(int argc, char **argv)
{
	const uint64_t events =
		argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	const uint64_t live = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;
	void **const slots = calloc(live, sizeof(*slots));
	uint64_t random = 88172645463325252ULL, live_count = 0;
	uint64_t done = 1, report = events / 10;

	if (slots == NULL)
		return 1;
	/* Stop in time to free the remaining blocks and 'slots' itself. */
	while (done + live_count + 1 < events) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;

		void **const p = &slots[(random >> 20) % live];

		if (*p != NULL) {
			free(*p);
			*p = NULL;
			live_count--;
		} else {
			*p = malloc(16 + random % 400);
			live_count++;
		}
		if (++done == report) {
			print_memory(done);
			report += events / 10;
		}
	}
	for (uint64_t i = 0; i < live; i++)
		free(slots[i]);
	free(slots);
	print_memory(done + live_count + 1);
	return 0;
}
