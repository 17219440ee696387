/* SPDX-License-Identifier: MIT */
/*
 * census_calls.h - what allocs, frees and reallocs change in a census
 *
 * For the files of the census only.  census.c has counted the event and gone to
 * its time; afterwards it looks whether there is a new peak.
 */
#ifndef CENSUS_CALLS_H
#define CENSUS_CALLS_H

#include "tools/summary/census.h"

void census_on_alloc(struct census *s, const struct hatf_event *e);
void census_on_free(struct census *s, const struct hatf_event *e);
void census_on_realloc(struct census *s, const struct hatf_event *e);

/* All blocks of a destroyed heap end with it. */
void census_on_heap_destroy(struct census *s, const struct hatf_event *e);

/* Put a block into the table and count it as live, but not as allocated. */
void census_begin_block(struct census *s, const struct live_block *block,
			uint32_t heap);

#endif /* CENSUS_CALLS_H */
