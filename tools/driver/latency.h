/* SPDX-License-Identifier: MIT */
/*
 * latency.h - the durations of the calls
 *
 * The driver counts durations in histograms whose buckets are 1/32 of a power
 * of two wide, so that a percentile is accurate to 3 %.  The memory of the
 * histograms comes from mmap(), because a library for histograms would use the
 * heap under test.
 */
#ifndef LATENCY_H
#define LATENCY_H

#include "tools/driver/replay_words.h"

/* The kinds of calls: malloc, calloc, memalign, realloc, free. */
#define LATENCY_KINDS 5
extern const char *const latency_kind_words[LATENCY_KINDS];

/* The percentiles: 50, 90, 99, 99.9, 99.99 and 100 %. */
#define LATENCY_POINTS 6
extern const char *const latency_point_words[LATENCY_POINTS];

#define LATENCY_BUCKETS 1280

/* Histograms of one lane (lanes.h), in ticks. */
struct latency_counts {
	uint64_t counts[LATENCY_KINDS][LATENCY_BUCKETS];
};

/* Percentiles of all calls of a kind, in ns. */
struct latency {
	uint64_t count;
	double points[LATENCY_POINTS];
};

static inline unsigned
latency_bucket(uint64_t ticks)
{
	unsigned top;

	if (ticks < 64)
		return (unsigned)ticks;
	top = 63 - (unsigned)__builtin_clzll(ticks);
	/*
	 * Calls of 2^44 ticks or more, two hours at 2.4 GHz, also go to the
	 * last bucket.
	 */
	if (top > 43)
		return LATENCY_BUCKETS - 1;
	return (top - 4) * 32 + (unsigned)(ticks >> (top - 5) & 31);
}

/*
 * Return the counts of a kind of call; 'word_kind' is one of WORD_MALLOC to
 * WORD_FREE.
 */
static inline uint64_t *
latency_of(struct latency_counts *c, unsigned word_kind)
{
	static const uint8_t kinds[] = { 0, 1, 2, 3, 3, 4 };

	return c->counts[kinds[word_kind - WORD_MALLOC]];
}

/*
 * Store in 'latency' the number of calls in the histogram 'counts', and their
 * percentiles.  A tick is 'tick_ns' ns.
 */
void latency_sum(struct latency *latency, const uint64_t *counts,
		 double tick_ns);

#endif /* LATENCY_H */
