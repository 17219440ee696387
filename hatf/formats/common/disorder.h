/* SPDX-License-Identifier: MIT */
/*
 * disorder.h - count calls that are in an impossible order
 *
 * Some systems log the calls of several threads only roughly in order, or miss
 * some calls: the log then shows an address allocated twice, or freed without
 * an allocation.  This count covers the violations of the live set that the
 * event stage reports, by address alone, in a fraction of the time.
 *
 * Memory is O(live addresses).  One thread uses a 'struct disorder'.
 */
#ifndef HATF_DISORDER_H
#define HATF_DISORDER_H

#include "hatf/containers/block_set.h"
#include "hatf/hatf.h"

struct disorder {
	struct block_set live;
	uint64_t count;
	/* The first violation. */
	enum hatf_violation what;
	uint64_t record; /* number of its record */
	uint64_t offset;
	/*
	 * The last realloc announces a free of 'old_address'.  The realloc has
	 * been counted; do not count the free again.
	 */
	bool announces_free;
	uint64_t old_address;
};

/* Begin with an empty live set; disorder_fini() frees it. */
void disorder_init(struct disorder *d);
void disorder_fini(struct disorder *d);

/*
 * Check a record against the live set; 'number' is the number of the record.
 * Returns false if memory is short.
 */
bool disorder_note(struct disorder *d, const struct hatf_record *rec,
		   uint64_t number);

#endif /* HATF_DISORDER_H */
