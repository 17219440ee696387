/* SPDX-License-Identifier: MIT */
/*
 * census_calls.h - count allocs, frees and reallocs in a census
 *
 * Only the files of the census use these functions.  census.c counts an event
 * and advances to its time before it calls these functions; afterwards it
 * checks for a new peak.
 */
#ifndef CENSUS_CALLS_H
#define CENSUS_CALLS_H

#include "tools/summary/census.h"

void census_on_alloc(struct census *s, const struct hatf_event *e);
void census_on_free(struct census *s, const struct hatf_event *e);
void census_on_realloc(struct census *s, const struct hatf_event *e);

/* End all blocks of a destroyed heap. */
void census_on_heap_destroy(struct census *s, const struct hatf_event *e);

/*
 * Store a block in row 'number' of s->live[heap].  Count it as live, but not as
 * allocated.
 */
void census_begin_block(struct census *s, const struct live_block *block,
			uint32_t number, uint32_t heap);

/* Count a live block only in the account of its pair of thread and stack. */
void census_begin_pair(struct census *s, const struct live_block *block);

#endif /* CENSUS_CALLS_H */
