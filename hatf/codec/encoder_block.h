/* SPDX-License-Identifier: MIT */
/*
 * encoder_block.h - shared by encoder.c and encoder_block.c
 *
 * encoder.c writes records, encoder_block.c the comments that frame a block.
 * Internal to these two files, and under the rules of encoder.h.
 */
#ifndef HATF_ENCODER_BLOCK_H
#define HATF_ENCODER_BLOCK_H

#include "hatf/codec/encoder.h"

/* Bytes of 'texts' per record: most records have 0 or 1 byte of attributes. */
#define ENCODER_TEXT_NBYTES 8

/*
 * Return the number of records that may wait in the span: the buffer must
 * have room for them and for the longest record.
 */
size_t encoder_choose_pending_max(const struct encoder *e);

/* Return the bytes of the buffer that the comment of the column may take. */
size_t encoder_column_room(const struct encoder *e);

/* Write a comment to the buffer, which has room for it. */
void encoder_write_comment(struct encoder *e, const uint8_t *text,
			   size_t nbytes);

#endif /* HATF_ENCODER_BLOCK_H */
