/* SPDX-License-Identifier: MIT */
/*
 * census_rows.h - the rows of a census: stacks, threads, lanes and heaps
 *
 * Only the files of the census use these functions.  A function that returns
 * the row of an id adds the row if the id is new.  If there is no memory, such
 * a function sets 'no_memory' of the census and returns row 0.
 */
#ifndef CENSUS_ROWS_H
#define CENSUS_ROWS_H

#include "tools/summary/census.h"

/*
 * Make sure that an array has more than 'row' rows; new rows are all zeros.
 * Return false if there is no memory.
 */
bool census_reach(void **rows, uint32_t *cap, uint32_t row, size_t row_nbytes);

/* Set up the row 'row' for the stack 'id'; false if there is no memory. */
bool census_add_stack_row(struct census *s, uint32_t row, uint64_t id);

/*
 * Make a row for a stack that has none, and return the row.  If the trace has
 * not defined the stack, increase 'undefined_stacks' and return STACK_NONE.
 */
uint32_t census_add_stack(struct census *s, uint64_t id);

uint32_t census_add_thread(struct census *s, uint64_t id);
uint32_t census_add_lane(struct census *s, uint32_t thread,
			 unsigned size_class);
uint32_t census_add_heap(struct census *s, uint64_t id);

/*
 * Return the row of a stack; STACK_NONE if 'id' is 0 or is not defined.
 */
static inline uint32_t
census_stack_row(struct census *s, uint64_t id)
{
	uint32_t row;

	if (id == 0)
		return STACK_NONE;
	row = id_rows_find(&s->stack_rows, id);
	return row != ID_ROWS_NONE ? row + STACK_FIRST
				   : census_add_stack(s, id);
}

static inline uint32_t
census_thread_row(struct census *s, uint64_t id)
{
	const uint32_t row = id_rows_find(&s->thread_rows, id);

	return row != ID_ROWS_NONE ? row : census_add_thread(s, id);
}

static inline uint32_t
census_lane_row(struct census *s, uint32_t thread, uint64_t size)
{
	const unsigned size_class = census_class(size);
	const uint32_t row_plus_1 =
		s->lane_index[(size_t)thread * CLASS_COUNT + size_class];

	return row_plus_1 != 0 ? row_plus_1 - 1
			       : census_add_lane(s, thread, size_class);
}

static inline uint32_t
census_heap_row(struct census *s, uint64_t id)
{
	const uint32_t row = id_rows_find(&s->heap_rows, id);

	return row != ID_ROWS_NONE ? row : census_add_heap(s, id);
}

/* Free all rows and their contents. */
void census_free_rows(struct census *s);

#endif /* CENSUS_ROWS_H */
