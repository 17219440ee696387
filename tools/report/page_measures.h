/* SPDX-License-Identifier: MIT */
/* page_measures.h - the columns peakBytes, peakBlocks, ... of page/DATA.md */
#ifndef PAGE_MEASURES_H
#define PAGE_MEASURES_H

#include "tools/summary/census.h"
#include "tools/ui/out.h"

/*
 * Write the arrays of the measures (peakBytes and so on) of 'count' accounts,
 * one element per account.  The arrays must not be the first members of an
 * object.
 */
void page_put_measures(struct out *o, const struct census *c,
		       const struct account *(*get)(const void *ctx,
						    uint32_t row),
		       const void *ctx, uint32_t count);

/*
 * Divide each measure of the account by that measure of all accounts together.
 * Return the largest of these shares.
 */
double page_score(const struct census *c, const struct account *a);

#endif /* PAGE_MEASURES_H */
