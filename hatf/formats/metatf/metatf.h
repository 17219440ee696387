/* SPDX-License-Identifier: MIT */
/*
 * metatf.h - HATF's records as Meta-TF: definitions shared by source and sink
 *
 * A record of a schema is one of HATF's if it has the name of one: alloc, free,
 * realloc, reallocNoAlloc, ..., destroyThread; comment or remark.  Its fields
 * are known by name, too: size, address, time, thread, heap; the first address
 * of a realloc is the old one.  The first field of bytes holds the attributes.
 */
#ifndef HATF_FORMATS_METATF_H
#define HATF_FORMATS_METATF_H

#include "hatf/formats/common/format.h"
#include "hatf/metatf/schema.h"

/* What a field of a record is in HATF. */
enum metatf_role {
	METATF_OTHER,
	METATF_SIZE,
	METATF_ADDRESS,
	METATF_OLD_ADDRESS,
	METATF_TIME,
	METATF_THREAD,
	METATF_HEAP,
	METATF_BYTES,
	METATF_NBYTES, /* their number */
};

/* No HATF record. */
#define METATF_NO_TAG 0xff

/* A realloc that does not say of which kind it is. */
#define METATF_ANY_REALLOC 0xfe

/*
 * Only the first fields of a record can have a meaning in HATF, and none that
 * is repeated or comes after such.
 */
#define METATF_FIELDS 32

struct metatf_map {
	uint8_t tag; /* enum hatf_tag, or one of those above */
	uint8_t roles[METATF_FIELDS];
};

/* Find what a record of a schema is in HATF. */
struct metatf_map metatf_map_record(const struct schema_record *r);

/* A DTD of hatf/metatf/dtd. */
struct metatf_dtd {
	const char *name; /* of the file */
	const char *text;
};

extern const struct metatf_dtd metatf_hatf_dtd;
extern const struct metatf_dtd metatf_splitaddr_dtd;
extern const struct metatf_dtd metatf_split_dtd;

#endif /* HATF_FORMATS_METATF_H */
