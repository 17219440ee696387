/* SPDX-License-Identifier: MIT */
/* latency.c - see latency.h */
#include "tools/driver/latency.h"

const char *const latency_kind_words[] = { "malloc", "calloc", "memalign",
					   "realloc", "free" };
const char *const latency_point_words[] = { "p50",   "p90",    "p99",
					    "p99_9", "p99_99", "max" };

/* Return the middle of a bucket, in ticks. */
static double
middle(unsigned bucket)
{
	const unsigned top = bucket / 32 + 4;

	if (bucket < 64)
		return bucket;
	return ((double)(bucket % 32) + 32.5) *
	       (double)(UINT64_C(1) << (top - 5));
}

void
latency_sum(struct latency *l, const uint64_t *counts, double tick_ns)
{
	static const double parts[] = { 0.5, 0.9, 0.99, 0.999, 0.9999, 1 };
	uint64_t below = 0;
	unsigned point = 0;

	*l = (struct latency){ .count = 0 };
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		l->count += counts[i];
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		below += counts[i];
		while (point < LATENCY_POINTS && below != 0 &&
		       (double)below >= parts[point] * (double)l->count)
			l->points[point++] = middle(i) * tick_ns;
	}
}
