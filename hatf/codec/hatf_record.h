/* SPDX-License-Identifier: MIT */
/*
 * hatf_record.h - what the library's modules ask of a 'struct hatf_record'
 *
 * Small enough to be inline: most of it runs once a record.
 */
#ifndef HATF_RECORD_H
#define HATF_RECORD_H

#include "hatf/hatf.h"

#include <string.h>

/* A realloc, which has two addresses. */
static inline bool
hatf_record_is_realloc(const struct hatf_record *rec)
{
	return rec->tag >= HATF_REALLOC_NO_ALLOC &&
	       rec->tag <= HATF_REALLOC_FREE;
}

/*
 * Does the record tell of a block that lived when the trace began?  It does as
 * long as no event has come before it (FORMAT "Attributes"), which the caller
 * knows.
 */
static inline bool
hatf_record_is_carried(const struct hatf_record *rec)
{
	return rec->tag == HATF_ALLOC && rec->attributes_nbytes != 0 &&
	       rec->attributes[0] == HATF_ATTR_CARRIED;
}

/* Is it a comment that begins with this text? */
static inline bool
hatf_record_comment_starts(const struct hatf_record *rec, const char *start)
{
	const size_t nbytes = strlen(start);

	return rec->tag == HATF_COMMENT && rec->attributes_nbytes >= nbytes &&
	       memcmp(rec->attributes, start, nbytes) == 0;
}

/* The number in a field that is not the attributes; of a realloc's addresses the
 * new one.  0 where the tag does not have it. */
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
 * All fields 0.  One by one, because gcc 12 makes a 'rep stos' of an assignment
 * or memset() of this length, which took half of the time of decoding.
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
