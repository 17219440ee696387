/* SPDX-License-Identifier: MIT */
/* samples.c - see samples.h */
#include "tools/measure/samples.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

void
samples_add(struct samples *s, double value)
{
	if (s->count < SAMPLES_MAX)
		s->values[s->count++] = value;
}

static int
compare(const void *a, const void *b)
{
	const double *const x = a;
	const double *const y = b;

	return (*x > *y) - (*x < *y);
}

double
samples_median(struct samples *s)
{
	if (s->count == 0)
		return NAN;
	qsort(s->values, s->count, sizeof(s->values[0]), compare);
	return (s->values[(s->count - 1) / 2] + s->values[s->count / 2]) / 2;
}

static double
read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

double
samples_clock(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double
samples_cpu_clock(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
