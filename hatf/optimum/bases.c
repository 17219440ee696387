/* SPDX-License-Identifier: MIT */
/*
 * bases.c - see bases.h
 *
 * A value x fits into w bytes if -2^(8w-1) <= x - base < 2^(8w-1).  The bases
 * for which this holds are a range around x.  The ranges for 4, 2, 1 and 0
 * bytes are nested, so x divides all bases into eight regions.  For each
 * region, the picture shows the widths into which x fits.  The regions form a
 * circle, because arithmetic is modulo 2^64: the first and the last region of
 * the picture are one region.
 *
 *     8  |  4 8  |  2 4 8  |  1 2 4 8  | x |  1 2 4 8  |  2 4 8  |  4 8  |  8
 */
#include "hatf/optimum/bases.h"

#include <stdlib.h>
#include <string.h>

#define REGION_COUNT 8

/* One value increases the number of ranges by at most this many. */
#define RANGES_PER_VALUE REGION_COUNT

/* The number of elements of 'costs_of_use'. */
#define FITS_COUNT 5

#define NO_KIND UINT32_MAX

bool
bases_init(struct bases *b, size_t value_count)
{
	/* At the start there are up to three ranges. */
	const size_t max = RANGES_PER_VALUE * value_count + 3;

	/*
	 * Allocate enough for the worst case.  Most of this memory is never
	 * touched.
	 */
	b->ranges = malloc(max * sizeof(*b->ranges));
	b->spare_ranges = malloc(max * sizeof(*b->spare_ranges));
	b->costs = malloc(max * sizeof(*b->costs));
	b->spare_costs = malloc(max * sizeof(*b->spare_costs));
	b->kinds = malloc(FITS_COUNT * max * sizeof(*b->kinds));
	return b->ranges != NULL && b->spare_ranges != NULL &&
	       b->costs != NULL && b->spare_costs != NULL && b->kinds != NULL;
}

void
bases_fini(struct bases *b)
{
	free(b->ranges);
	free(b->spare_ranges);
	free(b->costs);
	free(b->spare_costs);
	free(b->kinds);
}

void
bases_start(struct bases *b, bool any, uint64_t base,
	    const struct costs *forbidden)
{
	b->any = any;
	b->forbidden = *forbidden;
	b->ranges[0].start = any ? 0 : base;
	b->ranges[0].kind = 0;
	b->costs[0] = COSTS_INFINITE;
	b->count = 1;
	b->kind_count = 1;
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
	r[at].start = base;
	r[at].kind = 1;
	b->count = at + 1;
	b->costs[1] = *costs;
	b->kind_count = 2;
	if (b->any && base != UINT64_MAX) {
		r[at + 1].start = base + 1;
		r[at + 1].kind = 0;
		b->count++;
	}
}

/*
 * Return an index i below 'kind' for which b->costs[i] equals b->costs[kind],
 * or 'kind' if the function finds none.  The function may miss equal costs, and
 * 'costs' then keeps both elements.
 */
static uint32_t
find_alike(struct bases *b, uint32_t kind)
{
	const struct costs *const c = &b->costs[kind];
	const cost4 mix = c->stored + c->empty * 7;
	const uint32_t hash = (uint32_t)mix[0] + (uint32_t)mix[1] * 5 +
			      (uint32_t)mix[2] * 25 + (uint32_t)mix[3] * 125;
	struct bases_slot *const slot = &b->slots[hash % BASES_SLOT_COUNT];

	if (slot->turn == b->turn && costs_equal(c, &b->costs[slot->kind]))
		return slot->kind;
	slot->turn = b->turn;
	slot->kind = kind;
	return kind;
}

void
bases_switch(struct bases *b, const struct costs *entry)
{
	struct bases_range *const r = b->ranges;
	uint32_t kind_count = 0;
	size_t kept = 0;

	b->turn++;
	for (size_t i = 0; i < b->kind_count; i++) {
		b->costs[kind_count] = costs_min(
			costs_switch(b->costs[i], &b->forbidden), *entry);
		b->kinds[i] = find_alike(b, kind_count);
		kind_count += b->kinds[i] == kind_count;
	}
	b->kind_count = kind_count;
	for (size_t i = 0; i < b->count; i++) {
		const uint32_t kind = b->kinds[r[i].kind];

		if (kept != 0 && kind == r[kept - 1].kind)
			continue;
		r[kept].start = r[i].start;
		r[kept++].kind = kind;
	}
	b->count = kept;
}

/*
 * Compute the first base of each region.  The last region, in which the value
 * needs 8 bytes, ends where the first region begins.
 */
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

/*
 * Append to 'spare_costs' the sum of b->costs[old] and costs_of_use[fits], and
 * return its index.  'index' is the index of the first range that has these
 * costs.  Where a cost is less than that in 'best' or 'never', store the cost
 * there, and 'index' in 'best_index' or 'never_index'.
 */
static uint32_t
make_kind(struct bases *b, uint32_t old, unsigned fits, size_t index)
{
	const struct costs c = costs_add(b->costs[old], costs_of_use[fits]);
	const cost4 cost = cost4_min(c.stored, c.empty);
	const cost4 less = cost < b->best;

	b->best = (cost & less) | (b->best & ~less);
	b->best_index = ((int32_t)index & less) | (b->best_index & ~less);
	if (c.never < b->never) {
		b->never = c.never;
		b->never_index = (int32_t)index;
	}
	b->spare_costs[b->kind_count] = c;
	return (uint32_t)b->kind_count++;
}

/*
 * Append a range of bases that starts at 'start'.  b->costs[old] has the costs
 * of these bases before the value, and costs_of_use[fits] the costs of storing
 * the value.
 */
static inline void
append(struct bases *b, uint64_t start, uint32_t old, unsigned fits)
{
	uint32_t *const kind = &b->kinds[FITS_COUNT * old + fits];

	if (*kind == NO_KIND)
		*kind = make_kind(b, old, fits, b->count);
	b->spare_ranges[b->count].start = start;
	b->spare_ranges[b->count++].kind = *kind;
}

static unsigned
fits_at(uint64_t base, const uint64_t *start)
{
	/*
	 * The regions form a circle and are sorted by their starts, so find the
	 * last region that starts at or before 'base'.
	 */
	for (unsigned i = REGION_COUNT; i-- > 0;)
		if (base - start[0] >= start[i] - start[0])
			return region_fits[i];
	return 0;
}

/* Replace the old ranges and costs by those just computed. */
static void
swap(struct bases *b)
{
	struct bases_range *const ranges = b->ranges;
	struct costs *const costs = b->costs;

	b->ranges = b->spare_ranges;
	b->costs = b->spare_costs;
	b->spare_ranges = ranges;
	b->spare_costs = costs;
}

void
bases_use(struct bases *b, uint64_t value)
{
	const struct bases_range *const r = b->ranges;
	const size_t count = b->count;
	uint64_t start[REGION_COUNT];
	unsigned region = 0;
	unsigned left = b->any ? REGION_COUNT : 0;
	unsigned fits;

	find_regions(value, start);
	fits = fits_at(r[0].start, start);
	/*
	 * Find the region whose start is the smallest number, because the
	 * starts wrap around at 2^64.
	 */
	for (unsigned i = 1; i < REGION_COUNT; i++)
		if (start[i] < start[i - 1])
			region = i;
	memset(b->kinds, NO_KIND & 0xff,
	       FITS_COUNT * b->kind_count * sizeof(*b->kinds));
	b->best = COST4_INFINITE;
	b->best_index = COST4_ZERO;
	b->never = COST_INFINITE;
	b->never_index = 0;
	b->count = 0;
	b->kind_count = 0;
	for (size_t i = 0; i < count; i++) {
		while (left != 0 && start[region] <= r[i].start) {
			fits = region_fits[region];
			region = (region + 1) % REGION_COUNT;
			left--;
		}
		append(b, r[i].start, r[i].kind, fits);
		while (left != 0 &&
		       (i + 1 == count || start[region] < r[i + 1].start)) {
			fits = region_fits[region];
			append(b, start[region], r[i].kind, fits);
			region = (region + 1) % REGION_COUNT;
			left--;
		}
	}
	swap(b);
}

uint64_t
bases_round(uint64_t first, uint64_t last)
{
	if (first == last)
		return first;

	/*
	 * From 'first' to 'last', the bases differ only in this bit and the
	 * bits below it.
	 */
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
