/* SPDX-License-Identifier: MIT */
/*
 * disorder.h - calls in an order in which they cannot have happened
 *
 * Some systems write the calls of several threads down in about the order in which
 * they were made, or miss some: an address is then handed out twice, or freed without
 * having been handed out.  What is counted here is what the event stage calls
 * violations of the live set, by the addresses alone, at a fraction of its time.
 *
 * Memory is that of the live addresses.  Used by one thread at a time.
 */
#ifndef HATF_DISORDER_H
#define HATF_DISORDER_H

#include "hatf/containers/block_set.h"
#include "hatf/hatf.h"

struct disorder {
	struct block_set live;
	uint64_t count;
	/* Of the first one. */
	enum hatf_violation what;
	uint64_t record; /* number */
	uint64_t offset;
	/* What the last realloc announces comes next: it is counted there. */
	bool announces_free;
	uint64_t old_address;
};

void disorder_init(struct disorder *d);
void disorder_fini(struct disorder *d);

/* Look at record number 'number'.  False if there is no memory. */
bool disorder_note(struct disorder *d, const struct hatf_record *rec,
		   uint64_t number);

#endif /* HATF_DISORDER_H */
