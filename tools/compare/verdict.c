/* SPDX-License-Identifier: MIT */
/* verdict.c - see verdict.h */
#include "tools/compare/verdict.h"

#include <stdbool.h>
#include <stdlib.h>

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct verdict_side
verdict_side_make(uint64_t *values, size_t count)
{
	const size_t middle = (count - 1) / 2;
	struct verdict_side side;

	qsort(values, count, sizeof(*values), compare);
	side.min = values[0];
	side.max = values[count - 1];
	side.median = values[middle];
	/*
	 * Add half the difference of the two middle values, because their sum
	 * may overflow.
	 */
	if (count % 2 == 0)
		side.median += (values[middle + 1] - values[middle]) / 2;
	side.count = count;
	return side;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

enum verdict
verdict_judge(const struct verdict_side *old_side,
	      const struct verdict_side *new_side, uint64_t total,
	      const struct verdict_options *options)
{
	const bool grew = new_side->median > old_side->median;
	const uint64_t from = old_side->median, to = new_side->median;
	const double distance = (double)(grew ? to - from : from - to);
	const uint64_t spread = larger(old_side->max - old_side->min,
				       new_side->max - new_side->min);
	const bool is_apart = grew ? new_side->min > old_side->max
				   : new_side->max < old_side->min;

	/* Be stricter if a side has a single run, whose spread is unknown. */
	const bool has_single = old_side->count == 1 || new_side->count == 1;
	const double spread_factor =
		options->spread_factor * (has_single ? 2 : 1);

	if (from == to || !is_apart ||
	    distance <= options->floor * (double)from ||
	    distance <= options->total_floor * (double)total ||
	    distance <= spread_factor * (double)spread)
		return VERDICT_SAME;
	return grew ? VERDICT_GREW : VERDICT_SHRANK;
}
