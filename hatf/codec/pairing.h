/* SPDX-License-Identifier: MIT */
/*
 * pairing.h - find the records that begin a logical event
 *
 * A realloc record of tag 3 announces that an alloc and a free follow; tag 4
 * announces only an alloc, and tag 5 only a free (FORMAT "Realloc").  The
 * realloc and the records that it announces are one logical event.  Traces by
 * other tools may lack the announced records.  So an alloc or free counts as a
 * part of the realloc before it only if that realloc announced a record with
 * this tag, thread and address.  Any other record, except a comment or
 * metadata, ends the wait for announced records.
 */
#ifndef HATF_PAIRING_H
#define HATF_PAIRING_H

#include "hatf/hatf.h"

/*
 * The announced records that have not yet been read.  Zero the struct at the
 * start of a trace.
 */
struct pairing {
	bool alloc_expected, free_expected;
	uint64_t address, old_address, thread;
};

enum pairing_role {
	/*
	 * not an event: a comment, metadata, or the creation or end of a thread
	 * or heap
	 */
	PAIRING_NONE,
	PAIRING_EVENT, /* the record begins a logical event */
	PAIRING_PART,  /* the record is a part of the realloc before it */
};

/* Return the role of 'rec', the next record of the trace, and update '*p'. */
static inline enum pairing_role
pairing_role(struct pairing *p, const struct hatf_record *rec)
{
	if (rec->tag >= HATF_COMMENT)
		return PAIRING_NONE;
	if (rec->tag == HATF_ALLOC && p->alloc_expected &&
	    rec->address == p->address && rec->thread == p->thread) {
		p->alloc_expected = false;
		return PAIRING_PART;
	}
	if (rec->tag == HATF_FREE && p->free_expected &&
	    rec->address == p->old_address && rec->thread == p->thread) {
		p->free_expected = false;
		return PAIRING_PART;
	}
	p->alloc_expected = rec->tag == HATF_REALLOC_ALLOC_FREE ||
			    rec->tag == HATF_REALLOC_ALLOC;
	p->free_expected = rec->tag == HATF_REALLOC_ALLOC_FREE ||
			   rec->tag == HATF_REALLOC_FREE;
	p->address = rec->address;
	p->old_address = rec->old_address;
	p->thread = rec->thread;
	return rec->tag <= HATF_REALLOC_FREE ? PAIRING_EVENT : PAIRING_NONE;
}

#endif /* HATF_PAIRING_H */
