/* SPDX-License-Identifier: MIT */
/*
 * rules.h - what a technique allows for the values of a span
 *
 * technique.h has the rules that hold for all values.  Other rules depend on
 * the values of the span: which base, or which one state, suits them best.
 */
#ifndef HATF_RULES_H
#define HATF_RULES_H

#include "hatf/hatf.h"
#include "hatf/optimum/costs.h"
#include "hatf/optimum/technique.h"

#include <stddef.h>

struct rules {
	/* For each interpretation, is it allowed? */
	bool allowed[HATF_STRIDE + 1];
	/*
	 * For each interpretation: the cost of each state, infinite if the
	 * state is forbidden, else 0.
	 */
	struct costs forbidden[HATF_STRIDE + 1];
	bool any_base;
	uint64_t base; /* the only allowed base, unless 'any_base' is set */
};

/*
 * Compute the rules for 'n' values.  'sorted' is scratch space for 'n' values.
 */
void rules_init(struct rules *r, const struct technique_field *technique,
		const uint64_t *values, size_t n, uint64_t *sorted);

#endif /* HATF_RULES_H */
