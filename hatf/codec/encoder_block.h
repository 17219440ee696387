/* SPDX-License-Identifier: MIT */
/*
 * encoder_block.h - shared by encoder.c and encoder_block.c
 *
 * encoder.c writes records, encoder_block.c the comments that frame a block.
 * This header is internal to these two files.  The rules of encoder.h hold for
 * its functions.
 */
#ifndef HATF_ENCODER_BLOCK_H
#define HATF_ENCODER_BLOCK_H

#include "hatf/codec/encoder.h"

/*
 * Number of bytes that 'texts' has for each record of the span.  Most records
 * have 0 or 1 byte of attributes.
 */
#define ENCODER_TEXT_NBYTES 8

/*
 * Return the number of records that the span may hold.  The buffer must have
 * room for that many records and for the longest record.
 */
size_t encoder_choose_pending_max(const struct encoder *e);

/* Return how many bytes of the buffer the comment of the column may fill. */
size_t encoder_column_room(const struct encoder *e);

/* Write a comment to the buffer, which has room for it. */
void encoder_write_comment(struct encoder *e, const uint8_t *text,
			   size_t nbytes);

#endif /* HATF_ENCODER_BLOCK_H */
