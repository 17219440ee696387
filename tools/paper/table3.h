/* SPDX-License-Identifier: MIT */
/*
 * table3.h - what table 3 of the paper says of a trace
 *
 * Counts of records: the alloc and the free that a realloc announces are among
 * the allocs and frees, as in the paper.
 */
#ifndef TABLE3_H
#define TABLE3_H

#include "tools/trace/spool.h"

struct table3 {
	uint64_t data_records; /* alloc, free and realloc: tags 0 to 5 */
	uint64_t all_records;  /* of all kinds but comments: tags 0 to 9 */
	uint64_t alloc_count;  /* that got a block */
	uint64_t realloc_count;
	uint64_t free_count;
	double nbytes; /* that the allocs got */
	uint64_t max_objects, max_nbytes;
};

/*
 * Read the trace from end to end.  False if it is not whole or not complete,
 * which has been said then; the counts are those of what could be read.
 */
bool table3_take(struct table3 *c, const struct spool *trace);

#endif /* TABLE3_H */
