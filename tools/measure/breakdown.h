/* SPDX-License-Identifier: MIT */
/*
 * breakdown.h - how many bytes of a HATF trace each field takes
 *
 * The bytes of a field are the bytes that records store for it, and those of
 * the metadata that sets the field's width or interpretation.
 */
#ifndef BREAKDOWN_H
#define BREAKDOWN_H

#include "tools/measure/encoding.h"

struct breakdown {
	bool is_known;
	uint64_t field_nbytes[HATF_FIELD_COUNT];
	/* one byte for each record except comments and metadata */
	uint64_t tag_nbytes;
	/* including the header, the trailer and "block" comments */
	uint64_t comment_nbytes;
	uint64_t total_nbytes; /* length of the HATF stream */
	/* compressed length, at the library's default level */
	uint64_t file_nbytes;
};

/*
 * Convert the whole trace to encoding 'e', whose format must be HATF, and count
 * the bytes of the HATF stream.  Return HATF_OK, the error of the conversion,
 * or HATF_BAD_METADATA if the counted bytes do not add up to the length of the
 * stream.  '*err' has the details of an error.  Thread-safe; prints nothing.
 */
enum hatf_status breakdown_take(struct breakdown *b, const struct spool *trace,
				enum encoding e, struct hatf_error *err);

#endif /* BREAKDOWN_H */
