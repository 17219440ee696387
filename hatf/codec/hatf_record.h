/* SPDX-License-Identifier: MIT */
/*
 * hatf_record.h - inline helpers for 'struct hatf_record'
 *
 * Most of these helpers run once per record, so all are inline.  They use only
 * their arguments, so any thread may call them.
 */
#ifndef HATF_RECORD_H
#define HATF_RECORD_H

#include "hatf/hatf.h"

#include <string.h>

/* Is the record a realloc?  A realloc has two addresses. */
static inline bool
hatf_record_is_realloc(const struct hatf_record *rec)
{
	return rec->tag >= HATF_REALLOC_NO_ALLOC &&
	       rec->tag <= HATF_REALLOC_FREE;
}

/*
 * Does the record describe a block that was live when the trace began?  Call
 * this function only for records before the first event.  Later, the attribute
 * CARRIED means nothing (FORMAT "Segments").
 */
static inline bool
hatf_record_is_carried(const struct hatf_record *rec)
{
	return rec->tag == HATF_ALLOC && rec->attributes_nbytes != 0 &&
	       rec->attributes[0] == HATF_ATTR_CARRIED;
}

/* Is the record a comment that starts with this text? */
static inline bool
hatf_record_comment_starts(const struct hatf_record *rec, const char *start)
{
	const size_t nbytes = strlen(start);

	return rec->tag == HATF_COMMENT && rec->attributes_nbytes >= nbytes &&
	       memcmp(rec->attributes, start, nbytes) == 0;
}

/*
 * Return the number in a field, which must not be the attributes.  For a
 * realloc, the address is the new one.  If records of this tag lack the field,
 * return 0, because the field is then 0 in 'rec' (hatf_content.h).
 */
static inline uint64_t
hatf_record_number(const struct hatf_record *rec, unsigned field)
{
	switch (field) {
	case HATF_FIELD_SIZE:
		return rec->size;
	case HATF_FIELD_ADDRESS:
		return rec->address;
	case HATF_FIELD_TIME:
		return rec->time;
	case HATF_FIELD_THREAD:
		return rec->thread;
	default:
		return rec->heap;
	}
}

/*
 * Set all fields to 0, one by one.  gcc 12 compiles one assignment or memset()
 * of this length to 'rep stos', which took half of the decoding time.
 */
static inline void
hatf_record_clear(struct hatf_record *rec)
{
	rec->tag = 0;
	rec->attributes_nbytes = 0;
	rec->attributes = NULL;
	rec->size = 0;
	rec->address = 0;
	rec->old_address = 0;
	rec->time = 0;
	rec->thread = 0;
	rec->heap = 0;
	rec->offset = 0;
	rec->metadata.op = 0;
	rec->metadata.field = 0;
	rec->metadata.argument = 0;
	rec->metadata.value = 0;
	rec->metadata.stride = 0;
}

#endif /* HATF_RECORD_H */
