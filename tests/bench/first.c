/* SPDX-License-Identifier: MIT */
/*
 * first.c - what the first events of a process cost, compared with later ones
 *
 *   first
 *
 * Makes 200 000 events (malloc(64) and its free) as soon as the process runs,
 * then 2 000 000 more in stretches of the same length.  Prints the ns per event
 * of the first stretch, and the median of the later ones.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STRETCH_EVENTS 200000
#define LATER_COUNT    10

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static double
run_stretch(void)
{
	const uint64_t start_ns = now_ns();

	for (unsigned i = 0; i < STRETCH_EVENTS / 2; i++) {
		void *volatile p = malloc(64);

		free(p);
	}
	return (double)(now_ns() - start_ns) / STRETCH_EVENTS;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int
main(void)
{
	double later[LATER_COUNT];
	const double first = run_stretch();

	for (unsigned i = 0; i < LATER_COUNT; i++)
		later[i] = run_stretch();
	qsort(later, LATER_COUNT, sizeof(later[0]), compare);
	printf("%.2f %.2f\n", first, later[LATER_COUNT / 2]);
	return 0;
}
