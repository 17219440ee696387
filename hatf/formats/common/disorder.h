/* SPDX-License-Identifier: MIT */
/*
 * disorder.h - count calls that are in an impossible order
 *
 * Some systems log the calls of several threads only roughly in order, or miss
 * some calls.  Such a log may show that an address was allocated twice, or
 * freed without an allocation.  This module finds the same violations of the
 * live set as the event stage.  It considers only addresses, and takes a
 * fraction of the event stage's time.
 *
 * Memory is O(live addresses).  Only one thread may use a 'struct disorder'.
 */
#ifndef HATF_DISORDER_H
#define HATF_DISORDER_H

#include "hatf/containers/block_set.h"
#include "hatf/hatf.h"

struct disorder {
	struct block_set live;
	uint64_t count;
	/* The first violation that was found. */
	enum hatf_violation what;
	uint64_t record; /* number of the record that is the first violation */
	uint64_t offset;
	/*
	 * true: the latest realloc announces a free of 'old_address', and no
	 * free has followed yet.  If no block was live at 'old_address', the
	 * realloc has been counted as a violation, so do not count its free as
	 * another one.
	 */
	bool announces_free;
	uint64_t old_address;
};

/* disorder_init() begins with an empty live set, disorder_fini() frees it. */
void disorder_init(struct disorder *d);
void disorder_fini(struct disorder *d);

/*
 * Check record number 'number' against the live set, count a violation if there
 * is one, and update the live set.  Return false if memory runs out.
 */
bool disorder_note(struct disorder *d, const struct hatf_record *rec,
		   uint64_t number);

#endif /* HATF_DISORDER_H */
