/* SPDX-License-Identifier: MIT */
/*
 * excerpt.h - the first records of a trace, in memory
 *
 * Records have the paper's content and 32 bytes each.  A benchmark that uses
 * them reads no file, and its memory is bounded.
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

/*
 * Read up to 'max' records of tags 0 to 5.  If out of memory or if the trace
 * cannot be opened, print an error message and return false.  The caller frees
 * the excerpt.
 */
bool excerpt_take(struct excerpt *x, const struct spool *trace, uint64_t max);

/* Convert records [first, first + n) to records of the library. */
void excerpt_get(const struct excerpt *x, size_t first, size_t n,
		 struct hatf_record *out);

/* Does 'rec', which was read back, equal record 'i'? */
bool excerpt_has(const struct excerpt *x, size_t i,
		 const struct hatf_record *rec);

void excerpt_free(struct excerpt *x);

#endif /* EXCERPT_H */
