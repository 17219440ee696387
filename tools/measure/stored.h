/* SPDX-License-Identifier: MIT */
/*
 * stored.h - how the records of a HATF stream store their fields
 *
 * Follows the metadata of a stream (FORMAT "Metadata"), so that a tool which
 * reads records knows the bytes that they came from.
 */
#ifndef STORED_H
#define STORED_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stdint.h>

struct stored {
	uint8_t width[HATF_FIELD_COUNT]; /* code of the width in records */
	uint8_t last[HATF_FIELD_COUNT];	 /* the last width that was not 0 */
	uint8_t interpretation[HATF_FIELD_COUNT];
	uint64_t value
		[HATF_FIELD_COUNT]; /* of the interpretation: a base, say */
};

/* The standard state. */
void stored_init(struct stored *s);

/* Take in a metadata record.  Returns the bytes that the record takes. */
uint64_t stored_note(struct stored *s, const struct hatf_metadata *m);

/* How often a data record with this tag, no comment, has the field. */
unsigned stored_count(enum hatf_tag tag, enum hatf_field field);

/* Bytes of the field in the record, each time that the record has it. */
uint64_t stored_nbytes(const struct stored *s, enum hatf_field field,
		       const struct hatf_record *rec);

#endif /* STORED_H */
