/* SPDX-License-Identifier: MIT */
/* census_rows.c - see census_rows.h */
#include "tools/summary/census_rows.h"

#include <stdlib.h>
#include <string.h>

bool
census_reach(void **rows, uint32_t *cap, uint32_t row, size_t row_nbytes)
{
	uint32_t count = *cap == 0 ? 16 : *cap;
	char *grown;

	if (row < *cap)
		return true;
	while (count <= row)
		count *= 2;
	grown = realloc(*rows, count * row_nbytes);
	if (grown == NULL)
		return false;
	memset(grown + *cap * row_nbytes, 0, (count - *cap) * row_nbytes);
	*rows = grown;
	*cap = count;
	return true;
}

bool
census_add_stack_row(struct census *s, uint32_t row, uint64_t id)
{
	void *ids = s->stack_ids;
	const bool ok =
		census_reach(&ids, &s->stack_cap, row, sizeof(uint64_t));

	s->stack_ids = ids;
	if (!ok || !account_list_reach(&s->by_stack, row) ||
	    !history_reach(&s->history, row))
		return false;
	s->stack_ids[row] = id;
	return true;
}

uint32_t
census_add_stack(struct census *s, uint64_t id)
{
	struct hatf_stack stack;
	uint32_t row;

	if (!hatf_stacks_get(s->stacks, id, &stack)) {
		s->undefined_stacks++;
		return STACK_NONE;
	}
	row = id_rows_add(&s->stack_rows, id);
	if (row == ID_ROWS_NONE ||
	    !census_add_stack_row(s, row + STACK_FIRST, id)) {
		s->no_memory = true;
		return STACK_NONE;
	}
	return row + STACK_FIRST;
}

uint32_t
census_add_thread(struct census *s, uint64_t id)
{
	const uint32_t row = id_rows_add(&s->thread_rows, id);
	void *threads = s->threads;
	bool ok;

	ok = row != ID_ROWS_NONE && census_reach(&threads, &s->thread_cap, row,
						 sizeof(struct census_thread));
	s->threads = threads;
	if (ok) {
		/* Make room in 'lane_index' for each thread. */
		void *index =
			realloc(s->lane_index, sizeof(uint32_t) * CLASS_COUNT *
						       (size_t)s->thread_cap);

		ok = index != NULL;
		if (ok)
			s->lane_index = index;
	}
	if (!ok) {
		s->no_memory = true;
		return 0;
	}
	memset(s->lane_index + (size_t)row * CLASS_COUNT, 0,
	       sizeof(uint32_t) * CLASS_COUNT);
	s->threads[row].id = id;
	return row;
}

uint32_t
census_add_lane(struct census *s, uint32_t thread, unsigned size_class)
{
	const uint32_t row = s->by_lane.count;
	void *lanes = s->lanes;
	const bool ok =
		census_reach(&lanes, &s->lane_cap, row, sizeof(struct lane)) &&
		account_list_reach(&s->by_lane, row) &&
		history_reach(&s->history, row);

	s->lanes = lanes;
	if (!ok) {
		s->no_memory = true;
		return 0;
	}
	s->lanes[row] = (struct lane){ thread, size_class };
	s->lane_index[(size_t)thread * CLASS_COUNT + size_class] = row + 1;
	return row;
}

uint32_t
census_add_heap(struct census *s, uint64_t id)
{
	const uint32_t row = id_rows_add(&s->heap_rows, id);
	uint32_t cap = s->heap_cap;
	void *ids = s->heap_ids, *live = s->live;
	bool ok = row != ID_ROWS_NONE &&
		  census_reach(&ids, &cap, row, sizeof(uint64_t));

	s->heap_ids = ids;
	ok = ok &&
	     census_reach(&live, &s->heap_cap, row, sizeof(struct live_rows)) &&
	     account_list_reach(&s->by_heap, row);
	s->live = live;
	if (!ok) {
		s->no_memory = true;
		return 0;
	}
	s->heap_ids[row] = id;
	/*
	 * Now that there is a second heap, the first one needs an account of
	 * its own, which begins as a copy of 'total'.
	 */
	if (row == 1)
		s->by_heap.rows[0] = s->total;
	return row;
}

void
census_free_rows(struct census *s)
{
	for (uint32_t i = 0; i < s->thread_rows.count && i < s->thread_cap; i++)
		free(s->threads[i].name);
	for (uint32_t i = 0; i < s->heap_cap; i++)
		live_rows_free(&s->live[i]);
	free(s->stack_ids);
	free(s->threads);
	free(s->lane_index);
	free(s->lanes);
	free(s->heap_ids);
	free(s->live);
	free(s->crossings);
}
