/* SPDX-License-Identifier: MIT */
/*
 * costs.h - what it has cost to bring one field into each of its states
 *
 * Under one interpretation with one parameter, a number field is in one of nine
 * states: it stores 1, 2, 4 or 8 bytes; or it has width 0, and then the last
 * width that was not 0 matters too, since the next interpretation restores it.
 * 'struct costs' holds the least number of bytes, metadata and data, that lead
 * to each.  States side by side are in one vector, so that all take a step at
 * once.
 *
 * Costs stay below COST_INFINITE, and sums of a few infinite ones below 2^31.
 */
#ifndef HATF_COSTS_H
#define HATF_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the metadata records (FORMAT "Metadata"). */
enum {
	COST_WIDTH = 4,
	COST_NONE = 4,
	COST_VALUE = 12, /* default, baseOffset, delta */
	COST_STRIDE = 20,
	COST_INFINITE = 1 << 26,
};

/* One cost for each of the widths 1, 2, 4 and 8. */
typedef int32_t cost4 __attribute__((vector_size(16)));

#define COST4_WIDTHS ((cost4){ 1, 2, 4, 8 })
#define COST4_ZERO   ((cost4){ 0, 0, 0, 0 })
#define COST4_INFINITE \
	((cost4){ COST_INFINITE, COST_INFINITE, COST_INFINITE, COST_INFINITE })

struct costs {
	cost4 stored;  /* by width */
	cost4 empty;   /* width 0, by the last width */
	int32_t never; /* width 0, and there was never another one */
};

#define COSTS_INFINITE \
	((struct costs){ COST4_INFINITE, COST4_INFINITE, COST_INFINITE })

/* The same as numbers from 0 to 8: 'stored', then 'empty', then 'never'. */
enum {
	LANE_EMPTY = 4,
	LANE_NEVER = 8,
	LANE_COUNT = 9,
};

static inline cost4
cost4_min(cost4 a, cost4 b)
{
	const cost4 less = a < b;

	return (a & less) | (b & ~less);
}

static inline int32_t
cost_min(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

/* The least of the four, four times. */
static inline cost4
cost4_least(cost4 c)
{
	c = cost4_min(c, __builtin_shufflevector(c, c, 2, 3, 0, 1));
	return cost4_min(c, __builtin_shufflevector(c, c, 1, 0, 3, 2));
}

static inline struct costs
costs_min(struct costs a, struct costs b)
{
	a.stored = cost4_min(a.stored, b.stored);
	a.empty = cost4_min(a.empty, b.empty);
	a.never = cost_min(a.never, b.never);
	return a;
}

static inline struct costs
costs_add(struct costs a, struct costs b)
{
	a.stored += b.stored;
	a.empty += b.empty;
	a.never += b.never;
	return a;
}

static inline bool
costs_equal(const struct costs *a, const struct costs *b)
{
	const cost4 differ = (a->stored ^ b->stored) | (a->empty ^ b->empty);

	return (differ[0] | differ[1] | differ[2] | differ[3] |
		(a->never ^ b->never)) == 0;
}

static inline int32_t
costs_lane(const struct costs *c, unsigned lane)
{
	if (lane < LANE_EMPTY)
		return c->stored[lane];
	return lane < LANE_NEVER ? c->empty[lane - LANE_EMPTY] : c->never;
}

static inline void
costs_set_lane(struct costs *c, unsigned lane, int32_t cost)
{
	if (lane < LANE_EMPTY)
		c->stored[lane] = cost;
	else if (lane < LANE_NEVER)
		c->empty[lane - LANE_EMPTY] = cost;
	else
		c->never = cost;
}

/*
 * Where a width may be set: each state as it is, or by a set fieldSize from any
 * other.  'forbidden' is infinite for the states that may not be used.
 */
static inline struct costs
costs_switch(struct costs c, const struct costs *forbidden)
{
	const cost4 never = COST4_ZERO + c.never;
	const cost4 least =
		cost4_min(cost4_least(cost4_min(c.stored, c.empty)), never);

	c.empty = cost4_min(c.empty, c.stored + COST_WIDTH);
	c.stored = cost4_min(c.stored, least + COST_WIDTH);
	return costs_add(c, *forbidden);
}

/*
 * What it costs to store a number, by how many states can: 0 if only 8 bytes
 * do, to 3 if any width does, and 4 if the width may be 0 too.
 */
extern const struct costs costs_of_use[5];

/* That number for an unsigned value, and for a signed one. */
static inline unsigned
cost_fits_unsigned(uint64_t value)
{
	return (unsigned)(value <= UINT32_MAX) + (value <= UINT16_MAX) +
	       (value <= UINT8_MAX) + (value == 0);
}

static inline unsigned
cost_fits_signed(uint64_t value)
{
	return (unsigned)(value + (UINT32_C(1) << 31) <= UINT32_MAX) +
	       (value + INT16_MAX + 1 <= UINT16_MAX) +
	       (value + INT8_MAX + 1 <= UINT8_MAX) + (value == 0);
}

#endif /* HATF_COSTS_H */
