/* SPDX-License-Identifier: MIT */
/*
 * stored.h - how many bytes each field takes in a record of a HATF stream
 *
 * This module tracks the metadata of a stream (FORMAT "Metadata"), so that a
 * tool that reads records can compute their encoded size.
 */
#ifndef STORED_H
#define STORED_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stdint.h>

struct stored {
	/* width of the field: a number of bytes, or HATF_WIDTH_V1 or _V2 */
	uint8_t width[HATF_FIELD_COUNT];
	/* the field's last width that was not 0 */
	uint8_t last[HATF_FIELD_COUNT];
	uint8_t interpretation[HATF_FIELD_COUNT];
	/* argument of the field's interpretation, such as a base address */
	uint64_t value[HATF_FIELD_COUNT];
};

/* Set the initial state of a stream. */
void stored_init(struct stored *s);

/* Apply a metadata record.  Return its size in the stream, in bytes. */
uint64_t stored_note(struct stored *s, const struct hatf_metadata *m);

/*
 * Return how many values of 'field' a record of tag 'tag' has.  'tag' must be
 * neither HATF_COMMENT nor HATF_METADATA.
 */
unsigned stored_count(enum hatf_tag tag, enum hatf_field field);

/* Return how many bytes one value of the field takes in a record. */
uint64_t stored_nbytes(const struct stored *s, enum hatf_field field,
		       const struct hatf_record *rec);

#endif /* STORED_H */
