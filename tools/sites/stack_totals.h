/* SPDX-License-Identifier: MIT */
/*
 * stack_totals.h - what a trace knows of where its allocations came from
 *
 * Takes 24 bytes for each stack that an allocation has, beside a stack_view.
 * One thread uses it.
 */
#ifndef STACK_TOTALS_H
#define STACK_TOTALS_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stdint.h>

struct stack_totals {
	uint64_t frames, stacks; /* defined */
	uint64_t named_frames;	 /* that have a function */
	uint64_t located_frames; /* that have a file */
	uint64_t sites;		 /* of allocations */
	/* Allocations: alloc records that are events, and reallocs. */
	uint64_t allocations, without_stack;
	uint64_t depth_max, depth_sum; /* frames, over those with a stack */
};

struct stack_counter;

/* NULL: no memory.  stack_counter_close() allows NULL. */
struct stack_counter *stack_counter_open(void);
void stack_counter_close(struct stack_counter *counter);

/* Note a comment. */
void stack_counter_note(struct stack_counter *counter, const uint8_t *text,
			uint32_t nbytes);

/* Count an allocation or a realloc with these attributes. */
void stack_counter_add(struct stack_counter *counter, const uint8_t *attributes,
		       uint32_t nbytes);

struct stack_totals stack_counter_get(const struct stack_counter *counter);

/* The mean number of frames of the allocations that have a stack. */
double stack_totals_mean_depth(const struct stack_totals *totals);

#endif /* STACK_TOTALS_H */
