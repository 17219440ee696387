/* SPDX-License-Identifier: MIT */
/*
 * excerpt.h - the first records of a trace, in memory
 *
 * In the paper's content and 32 bytes each, so that what is timed reads no file
 * and the memory has a bound.
 */
#ifndef EXCERPT_H
#define EXCERPT_H

#include "tools/trace/spool.h"

struct excerpt_record {
	uint64_t size, address, old_address;
	uint8_t tag;
};

struct excerpt {
	struct excerpt_record *records;
	size_t count;
};

/* Take up to 'max' records of tags 0 to 5.  False without memory, or if the
 * trace cannot be opened, which has been said then. */
bool excerpt_take(struct excerpt *x, const struct spool *trace, uint64_t max);

/* The records [first, first + n), as the library has them. */
void excerpt_get(const struct excerpt *x, size_t first, size_t n,
		 struct hatf_record *out);

/* Is 'rec', which has been read back, record number 'i'? */
bool excerpt_has(const struct excerpt *x, size_t i,
		 const struct hatf_record *rec);

void excerpt_free(struct excerpt *x);

#endif /* EXCERPT_H */
