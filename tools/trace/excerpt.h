/* SPDX-License-Identifier: MIT */
/*
 * excerpt.h - the first records of a trace, in memory
 *
 * A record has 32 bytes: the tag, the size and the two addresses, which are the
 * fields of the traces in the HATF paper (tools/paper).  Benchmarks use an
 * excerpt so that they read no file while they measure, and so that a long
 * trace does not fill the memory.
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
 * Read the first records of allocs, frees and reallocs (tags 0 to 5), at most
 * 'max'.  If out of memory or if the trace cannot be opened, print an error
 * message and return false.  The caller frees the excerpt.
 */
bool excerpt_take(struct excerpt *x, const struct spool *trace, uint64_t max);

/* Convert 'n' records, from record 'first' on, to records of the library. */
void excerpt_get(const struct excerpt *x, size_t first, size_t n,
		 struct hatf_record *out);

/* Is 'rec', which was written and read again, equal to record 'i'? */
bool excerpt_has(const struct excerpt *x, size_t i,
		 const struct hatf_record *rec);

void excerpt_free(struct excerpt *x);

#endif /* EXCERPT_H */
