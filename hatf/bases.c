/* SPDX-License-Identifier: MIT */
/*
 * bases.c - see bases.h
 *
 * A value x is stored in w bytes if -2^(8w-1) <= x - base < 2^(8w-1), which is a
 * range of bases around x.  The ranges for 4, 2, 1 and 0 bytes lie in one
 * another, so x cuts all bases into eight regions, on a circle as arithmetic is
 * modulo 2^64:
 *
 *     8  |  4 8  |  2 4 8  |  1 2 4 8  | x |  1 2 4 8  |  2 4 8  |  4 8  |  8
 */
#include "bases.h"

#include <stdlib.h>

#define REGION_COUNT 8

/* A value adds at most so many ranges. */
#define RANGES_PER_VALUE REGION_COUNT

bool
bases_init(struct bases *b, size_t value_count)
{
	/* Three at the start; and one that ends the others. */
	const size_t max = RANGES_PER_VALUE * value_count + 4;

	/* Nearly all of this is never touched. */
	b->ranges = malloc(max * sizeof(*b->ranges));
	b->spare = malloc(max * sizeof(*b->spare));
	return b->ranges != NULL && b->spare != NULL;
}

void
bases_fini(struct bases *b)
{
	free(b->ranges);
	free(b->spare);
}

void
bases_start(struct bases *b, bool any, uint64_t base,
	    const struct costs *forbidden)
{
	b->any = any;
	b->forbidden = *forbidden;
	b->ranges[0].start = any ? 0 : base;
	b->ranges[0].costs = COSTS_INFINITE;
	b->count = 1;
}

void
bases_enter(struct bases *b, uint64_t base, const struct costs *costs)
{
	struct bases_range *const r = b->ranges;
	size_t at = 0;

	if (!b->any && base != r[0].start)
		return;
	if (b->any && base != 0)
		at = 1;
	if (b->any && base != UINT64_MAX) {
		r[at + 1].start = base + 1;
		r[at + 1].costs = COSTS_INFINITE;
		b->count = at + 2;
	} else {
		b->count = at + 1;
	}
	r[at].start = base;
	r[at].costs = *costs;
}

void
bases_switch(struct bases *b, const struct costs *entry)
{
	struct bases_range *const r = b->ranges;
	size_t kept = 0;

	for (size_t i = 0; i < b->count; i++) {
		const struct costs c = costs_min(
			costs_switch(r[i].costs, &b->forbidden), *entry);

		if (kept != 0 && costs_equal(&c, &r[kept - 1].costs))
			continue;
		r[kept].start = r[i].start;
		r[kept++].costs = c;
	}
	b->count = kept;
}

/* The first base of each region behind the one where only 8 bytes do. */
static void
find_regions(uint64_t value, uint64_t *start)
{
	start[0] = value - INT32_MAX;
	start[1] = value - INT16_MAX;
	start[2] = value - INT8_MAX;
	start[3] = value;
	start[4] = value + 1;
	start[5] = value + INT8_MAX + 2;
	start[6] = value + INT16_MAX + 2;
	start[7] = value + (uint64_t)INT32_MAX + 2;
}

static const uint8_t region_fits[REGION_COUNT] = { 1, 2, 3, 4, 3, 2, 1, 0 };

/* Append the costs after a value to the new ranges, and keep the best. */
static inline void
append(struct bases *b, struct bases_range *to, size_t index, uint64_t start,
       const struct costs *before, unsigned fits)
{
	const struct costs c = costs_add(*before, costs_of_use[fits]);
	const cost4 cost = cost4_min(c.stored, c.empty);
	const cost4 less = cost < b->best;

	to[index].start = start;
	to[index].costs = c;
	b->best = (cost & less) | (b->best & ~less);
	b->best_index = ((int32_t)index & less) | (b->best_index & ~less);
	if (c.never < b->never) {
		b->never = c.never;
		b->never_index = (int32_t)index;
	}
}

static unsigned
fits_at(uint64_t base, const uint64_t *start)
{
	/* On the circle, the region is the last one that starts before. */
	for (unsigned i = REGION_COUNT; i-- > 0;)
		if (base - start[0] >= start[i] - start[0])
			return region_fits[i];
	return 0;
}

void
bases_use(struct bases *b, uint64_t value)
{
	const struct bases_range *const r = b->ranges;
	struct bases_range *const to = b->spare;
	uint64_t start[REGION_COUNT];
	unsigned region = 0;
	unsigned left = REGION_COUNT;
	unsigned fits;
	size_t count = 0;

	b->best = COST4_INFINITE;
	b->best_index = COST4_ZERO;
	b->never = COST_INFINITE;
	b->never_index = 0;
	find_regions(value, start);
	fits = fits_at(r[0].start, start);
	if (!b->any)
		left = 0;
	/* Of the regions in order of 'start', the first is one behind 0. */
	for (unsigned i = 1; i < REGION_COUNT; i++)
		if (start[i] < start[i - 1])
			region = i;
	for (size_t i = 0; i < b->count; i++) {
		uint64_t from = r[i].start;

		while (left != 0 && start[region] <= from) {
			fits = region_fits[region];
			region = (region + 1) % REGION_COUNT;
			left--;
		}
		append(b, to, count++, from, &r[i].costs, fits);
		while (left != 0 &&
		       (i + 1 == b->count || start[region] < r[i + 1].start)) {
			fits = region_fits[region];
			append(b, to, count++, start[region], &r[i].costs,
			       fits);
			region = (region + 1) % REGION_COUNT;
			left--;
		}
	}
	b->spare = b->ranges;
	b->ranges = to;
	b->count = count;
}

uint64_t
bases_round(uint64_t first, uint64_t last)
{
	if (first == last)
		return first;

	/* Above the highest bit in which they differ, all bases agree. */
	const unsigned bit = 63u - (unsigned)__builtin_clzll(first ^ last);
	const uint64_t below = (UINT64_C(1) << bit) - 1;

	if ((first & (below * 2 + 1)) == 0)
		return first;
	return last & ~below;
}

uint64_t
bases_pick(const struct bases *b, size_t index)
{
	const struct bases_range *const r = &b->ranges[index];

	if (!b->any)
		return r->start;
	if (index + 1 == b->count)
		return bases_round(r->start, UINT64_MAX);
	return bases_round(r->start, r[1].start - 1);
}
