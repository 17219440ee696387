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

/* What a field of a schema's record means in HATF. */
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

/* Tag of a schema's record that corresponds to no HATF record. */
#define METATF_NO_TAG 0xff

/*
 * Tag of a schema's record that holds an event which the traced program itself
 * reported (event_text.h).
 */
#define METATF_EVENT 0xfd

/* Tag of a schema's realloc record that does not state the kind of realloc. */
#define METATF_ANY_REALLOC 0xfe

/*
 * Only the first fields of a record, at most this many, can correspond to
 * fields of a HATF record.  A repeated field and the fields after it correspond
 * to none.
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

/* A DTD from the folder hatf/metatf/dtd. */
struct metatf_dtd {
	const char *name; /* name of the file */
	const char *text;
};

extern const struct metatf_dtd metatf_hatf_dtd;
extern const struct metatf_dtd metatf_splitaddr_dtd;
extern const struct metatf_dtd metatf_split_dtd;

#endif /* HATF_FORMATS_METATF_H */
