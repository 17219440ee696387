/* SPDX-License-Identifier: MIT */
/*
 * table3.h - the figures of a trace for table 3 of the paper
 *
 * As in the paper, the figures count records.  A realloc record may announce an
 * alloc record, a free record, or both (FORMAT "Realloc").  The announced
 * records count in addition to the realloc: as an alloc and as a free.
 */
#ifndef TABLE3_H
#define TABLE3_H

#include "tools/trace/spool.h"

struct table3 {
	/* number of alloc, free and realloc records: tags 0 to 5 */
	uint64_t data_records;
	/* number of all records except comments and metadata: tags 0 to 9 */
	uint64_t all_records;
	uint64_t alloc_count; /* number of successful allocs */
	uint64_t realloc_count;
	uint64_t free_count;
	double nbytes; /* bytes of successful allocs */
	uint64_t max_objects, max_nbytes;
};

/*
 * Read the whole trace.  If it is damaged or incomplete, print the error and
 * return false; in this case, the counts are those of the part that could be
 * read.
 */
bool table3_take(struct table3 *c, const struct spool *trace);

#endif /* TABLE3_H */
