/* SPDX-License-Identifier: MIT */
/*
 * stack_totals.h - how much a trace records about the origin of its allocations
 *
 * A counter contains the definitions, a stack_view, and about 32 bytes for each
 * call stack of an allocation and for each ancestor of such a stack.  Only one
 * thread may use a counter.
 */
#ifndef STACK_TOTALS_H
#define STACK_TOTALS_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stdint.h>

struct stack_totals {
	uint64_t frames, stacks; /* defined frames and stacks */
	uint64_t named_frames;	 /* frames that have a function */
	uint64_t located_frames; /* frames that have a file */
	uint64_t sites;		 /* number of sites of all blocks */
	uint64_t allocations;	 /* reallocs, and allocs outside a realloc */
	uint64_t without_stack;	 /* allocations without a defined stack */
	/*
	 * Allocations whose stack lacks outer frames.  'cut_off': the number of
	 * frames has a limit.  'unknown_caller': the recorder did not find the
	 * caller of the outermost frame (FORMAT.md, "Stacks").
	 */
	uint64_t cut_off, unknown_caller;
	/* number of frames of an allocation's stack: maximum and sum */
	uint64_t depth_max, depth_sum;
};

struct stack_counter;

/*
 * Open a counter.  Return NULL if there is no memory.  stack_counter_close()
 * allows NULL.
 */
struct stack_counter *stack_counter_open(void);
void stack_counter_close(struct stack_counter *counter);

/* Count the frame or the stack that the comment 'text' defines, if any. */
void stack_counter_note(struct stack_counter *counter, const uint8_t *text,
			uint32_t nbytes);

/*
 * Count an allocation or a realloc.  If the block was live when the trace
 * began, count only its site.
 */
void stack_counter_add(struct stack_counter *counter,
		       const struct hatf_event *event);

struct stack_totals stack_counter_get(const struct stack_counter *counter);

/*
 * Return the mean number of frames in the stack of an allocation; 0 if no
 * allocation has a stack.
 */
double stack_totals_mean_depth(const struct stack_totals *totals);

#endif /* STACK_TOTALS_H */
