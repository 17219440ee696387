/* SPDX-License-Identifier: MIT */
/*
 * encoder_block.h - shared by encoder.c and encoder_block.c
 *
 * encoder.c writes records.  encoder_block.c writes the comments that frame a
 * block, and lays out the memory of an encoder.  This header is internal to
 * these two files.  The rules of encoder.h hold for its functions.
 */
#ifndef HATF_ENCODER_BLOCK_H
#define HATF_ENCODER_BLOCK_H

#include "hatf/codec/encoder.h"

/*
 * Number of bytes that 'texts' has for each record of the span.  Most records
 * have 0 or 1 byte of attributes.
 */
#define ENCODER_TEXT_NBYTES 8

/* Is a column active, so that the stacks of the records go into the column? */
static inline bool
has_active_column(const struct encoder *e)
{
	return e->column != NULL && e->column->is_active;
}

/* Return how many bytes of the buffer the comment of the column may fill. */
static inline size_t
encoder_column_room(const struct encoder *e)
{
	return has_active_column(e) ? ENCODER_COLUMN_NBYTES : 0;
}

/*
 * Return the number of records that the span may hold; 0 if there is no room.
 * The buffer must have room for that many records, for the longest record, and
 * for the comment of an active column.
 */
static inline size_t
encoder_choose_pending_max(const struct encoder *e)
{
	const size_t kept = ENCODER_RECORD_MAX_NBYTES +
			    e->planner.records * ENCODER_TEXT_NBYTES +
			    encoder_column_room(e);
	const size_t left = e->cap - e->used;

	if (left < kept)
		return 0;

	const size_t n = (left - kept) / ENCODER_RECORD_NBYTES;

	return n < e->planner.records ? n : e->planner.records;
}

/* Write a comment to the buffer, which must have room for the comment. */
void encoder_write_comment(struct encoder *e, const uint8_t *text,
			   size_t nbytes);

#endif /* HATF_ENCODER_BLOCK_H */
