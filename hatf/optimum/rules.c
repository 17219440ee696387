/* SPDX-License-Identifier: MIT */
/*
 * rules.c - see rules.h
 */
#include "hatf/optimum/rules.h"

#include "hatf/optimum/bases.h"

#include <stdlib.h>
#include <string.h>

static void
allow(struct rules *r, unsigned interpretation, unsigned widths)
{
	struct costs *const f = &r->forbidden[interpretation];

	r->allowed[interpretation] = widths != 0;
	for (unsigned i = 0; i < COST_LANE_EMPTY; i++) {
		if (widths & TECHNIQUE_WIDTH_1 << i)
			f->stored[i] = 0;
		if (widths & TECHNIQUE_WIDTH_0)
			f->empty[i] = 0;
	}
	if (widths & TECHNIQUE_WIDTH_0)
		f->never = 0;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Return a base from which offsets of 4 bytes reach as many values as possible.
 */
static uint64_t
main_base(const uint64_t *values, size_t n, uint64_t *sorted)
{
	size_t best = 0;
	size_t best_count = 0;
	size_t end = 0;

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), compare);
	for (size_t i = 0; i < n; i++) {
		while (end < n && sorted[end] - sorted[i] <= UINT32_MAX)
			end++;
		if (end - i <= best_count)
			continue;
		best = i;
		best_count = end - i;
	}
	return bases_round(sorted[best + best_count - 1] - INT32_MAX,
			   sorted[best] + INT32_MAX + UINT64_C(1));
}

/*
 * Allow only one state: default if all values are equal, else none or delta,
 * whichever stores all values with the smaller width.
 */
static void
allow_constant(struct rules *r, const uint64_t *values, size_t n)
{
	unsigned as_value = 4;
	unsigned as_delta = 4;

	for (size_t i = 0; i < n; i++) {
		const uint64_t previous = values[i == 0 ? 0 : i - 1];
		const unsigned fits = cost_fits_unsigned(values[i]);
		const unsigned fits_delta =
			cost_fits_signed(values[i] - previous);

		as_value = fits < as_value ? fits : as_value;
		as_delta = fits_delta < as_delta ? fits_delta : as_delta;
	}
	if (as_delta == 4)
		allow(r, HATF_DEFAULT, TECHNIQUE_WIDTH_0);
	else if (as_value >= as_delta)
		allow(r, HATF_NONE, TECHNIQUE_WIDTH_8 >> as_value);
	else
		allow(r, HATF_DELTA, TECHNIQUE_WIDTH_8 >> as_delta);
}

void
rules_init(struct rules *r, const struct technique_field *technique,
	   const uint64_t *values, size_t n, uint64_t *sorted)
{
	const struct technique_field *const t = technique;

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i <= HATF_STRIDE; i++)
		r->forbidden[i] = COSTS_INFINITE;
	if (t->constant) {
		allow_constant(r, values, n);
		return;
	}
	allow(r, HATF_NONE, t->none);
	allow(r, HATF_DEFAULT, t->default_value ? TECHNIQUE_WIDTH_0 : 0);
	allow(r, HATF_BASE_OFFSET, t->base_offset);
	allow(r, HATF_DELTA, t->delta);
	allow(r, HATF_STRIDE, t->stride ? TECHNIQUE_WIDTH_0 : 0);
	r->any_base = t->any_base;
	if (t->base_offset != 0 && !t->any_base)
		r->base = main_base(values, n, sorted);
}
