/* SPDX-License-Identifier: MIT */
/*
 * rules.h - what a technique allows for the values of a window
 *
 * 'technique.h' says it in general; some of it depends on the values: the one
 * base or the one width that is the best for them.
 */
#ifndef HATF_RULES_H
#define HATF_RULES_H

#include "hatf/hatf.h"
#include "hatf/optimum/costs.h"
#include "hatf/optimum/technique.h"

#include <stddef.h>

struct rules {
	/* By interpretation: is it allowed, and which of its states? */
	bool allowed[HATF_STRIDE + 1];
	struct costs forbidden[HATF_STRIDE + 1]; /* infinite, else 0 */
	bool any_base;
	uint64_t base; /* the only one, unless 'any_base' */
};

/* 'sorted' is room for 'n' values. */
void rules_init(struct rules *r, const struct technique_field *technique,
		const uint64_t *values, size_t n, uint64_t *sorted);

#endif /* HATF_RULES_H */
