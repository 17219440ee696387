/* SPDX-License-Identifier: MIT */
/*
 * costs.h - the cost of reaching each state of one field
 *
 * With a given interpretation and parameter (such as a base), a number field
 * has one of nine states.  In four states, the field stores 1, 2, 4 or 8 bytes.
 * In the other five, the field has width 0.  These five differ in the last
 * nonzero width, if any, which the next "set fieldInterpretation" record
 * restores.  'struct costs' has the cost of each state: the least number of
 * bytes of metadata and data that bring the field into the state.  Four states
 * share a vector, so that one operation updates all four.
 *
 * The cost of a state that can be reached stays below COST_INFINITE.  The sum
 * of a few infinite costs stays below 2^31.
 */
#ifndef HATF_COSTS_H
#define HATF_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Lengths of the metadata records in bytes (FORMAT "Metadata"), and the cost of
 * a state that is forbidden or cannot be reached.
 */
enum {
	COST_WIDTH = 4,
	COST_NONE = 4,
	/* a record that sets default, baseOffset or delta, with its value */
	COST_VALUE = 12,
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
	/* costs of the states with a stored width: 1, 2, 4 and 8 */
	cost4 stored;
	/* costs of the states of width 0, by the last nonzero width */
	cost4 empty;
	/* cost of the state of width 0 if no width was ever nonzero */
	int32_t never;
};

#define COSTS_INFINITE \
	((struct costs){ COST4_INFINITE, COST4_INFINITE, COST_INFINITE })

/*
 * Lanes: the numbers of the states, 0 to 8, in the order 'stored', 'empty',
 * 'never'.
 */
enum {
	COST_LANE_EMPTY = 4,
	COST_LANE_NEVER = 8,
	COST_LANE_COUNT = 9,
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

/* Return a vector with the least of the four costs in all four lanes. */
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
	if (lane < COST_LANE_EMPTY)
		return c->stored[lane];
	return lane < COST_LANE_NEVER ? c->empty[lane - COST_LANE_EMPTY]
				      : c->never;
}

static inline void
costs_set_lane(struct costs *c, unsigned lane, int32_t cost)
{
	if (lane < COST_LANE_EMPTY)
		c->stored[lane] = cost;
	else if (lane < COST_LANE_NEVER)
		c->empty[lane - COST_LANE_EMPTY] = cost;
	else
		c->never = cost;
}

/*
 * Return the costs after a gap where one "set fieldSize" record may stand.  'c'
 * has the costs before the gap.  A path reaches a state
 *
 * - without the record, at the cost of the state in 'c', or
 * - with the record, at COST_WIDTH plus the least cost in 'c' of the states
 *   from which the record leads to this state.
 *
 * Take the lesser cost, and add the cost of the state in 'forbidden', which is
 * infinite for a state that is not allowed, else 0.
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
 * The costs of storing a number, for each state.  The index is the number of
 * widths, among 4, 2, 1 and 0, that can store the number: 1 for 70000, 4 for 0.
 */
extern const struct costs costs_of_use[5];

/*
 * Return the index in 'costs_of_use': cost_fits_unsigned() for an unsigned
 * value, cost_fits_signed() for a signed one.
 */
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
