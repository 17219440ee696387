/* SPDX-License-Identifier: MIT */
/*
 * metatf.h - HATF's records as Meta-TF: definitions shared by source and sink
 *
 * A record of a schema corresponds to a HATF record if it has one of these
 * names: alloc, free, realloc, reallocNoAlloc, ..., destroyThread; comment or
 * remark.  Its fields are recognized by name, too: size, address, time, thread,
 * heap; the first address of a realloc is the old one.  The first field of
 * bytes holds the attributes.
 */
#ifndef HATF_FORMATS_METATF_H
#define HATF_FORMATS_METATF_H

#include "hatf/formats/common/format.h"
#include "hatf/metatf/schema.h"

/* The meaning of a field of a record in HATF. */
enum metatf_role {
	METATF_OTHER,
	METATF_SIZE,
	METATF_ADDRESS,
	METATF_OLD_ADDRESS,
	METATF_TIME,
	METATF_THREAD,
	METATF_HEAP,
	METATF_BYTES,
	METATF_NBYTES, /* number of bytes of the attributes */
};

/* The record is not a HATF record. */
#define METATF_NO_TAG 0xff

/* The record is an event that the program itself reported: see event_text.h. */
#define METATF_EVENT 0xfd

/* The record is a realloc whose kind is not stated. */
#define METATF_ANY_REALLOC 0xfe

/*
 * Only the first fields of a record, at most this many, can have a meaning in
 * HATF.  A repeated field has no meaning in HATF, and neither has any field
 * after a repeated field.
 */
#define METATF_FIELDS 32

struct metatf_map {
	uint8_t tag; /* enum hatf_tag, or one of the values above */
	uint8_t roles[METATF_FIELDS];
};

/* Return how many fields precede the first repeated field. */
uint32_t metatf_single_count(const struct schema_record *r);

/* Find the HATF record that a record of a schema corresponds to. */
struct metatf_map metatf_map_record(const struct schema_record *r);

/* A DTD of hatf/metatf/dtd. */
struct metatf_dtd {
	const char *name; /* name of the file */
	const char *text;
};

extern const struct metatf_dtd metatf_hatf_dtd;
extern const struct metatf_dtd metatf_splitaddr_dtd;
extern const struct metatf_dtd metatf_split_dtd;

#endif /* HATF_FORMATS_METATF_H */
