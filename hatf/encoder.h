/* SPDX-License-Identifier: MIT */
/*
 * encoder.h - records into the bytes of one block
 *
 * Turns records into HATF 1.0 bytes in a buffer of the caller's: data records,
 * the metadata that 'place.h' asks for before them, and the comments that frame
 * a block.  It is what the recorder and hatf_writer share.
 *
 * It runs inside traced programs, in a thread that has no libc state of its
 * own: nothing in here or below it (layout, place, text, attr) allocates,
 * locks, uses stdio or locale, makes a system call or touches errno.
 *
 * Invariant: [buf, buf + used) is a legal HATF stream that needs no earlier
 * byte, except that the "bytes=" of its block comment is filled in by
 * encoder_end().
 */
#ifndef HATF_ENCODER_H
#define HATF_ENCODER_H

#include "hatf.h"
#include "layout.h"
#include "place.h"

/*
 * The most that one record can take with the metadata before it: a set
 * interpretation (20) and a set fieldSize (4) for each of six fields, the
 * record itself (1 + 6 * 8 bytes), and 2 + 65535 bytes of attributes.  A buffer
 * must hold this beyond what its owner wants in a block.
 */
#define ENCODER_RECORD_MAX_NBYTES (6 * 24 + 49 + 2 + 65535)

struct encoder {
	uint8_t *buf; /* the caller's; one block */
	size_t cap, used;
	/* In 'buf': the block, and its "bytes="; 0: there is no block. */
	size_t block_off, length_off;
	struct layout layout;
	struct place place;
	uint64_t stream_nbytes; /* that encoder_reset() took from the buffer */
	uint64_t block_count;	/* that have been begun */
	uint64_t record_count[HATF_TAG_COUNT]; /* by tag, metadata too */
};

/* Start with an empty buffer, which stays the caller's. */
void encoder_init(struct encoder *e, uint8_t *buf, size_t cap);

/*
 * Append a comment before a block has begun or inside one: the header, a note.
 * 'nbytes' is at most 65535.  Returns false and writes nothing if it does not
 * fit.
 */
bool encoder_comment(struct encoder *e, const char *text, size_t nbytes);

/*
 * Begin a block: its comment (FORMAT "Blocks"; 'event' is the number of the
 * first logical event in it, 'time' the start time) and metadata for every
 * field.  The buffer must be empty or hold comments only, and have room for a
 * record.  'time' and 'thread' are guesses of what the first record has.
 */
void encoder_begin(struct encoder *e, uint64_t event, uint64_t time,
		   uint64_t thread);

/* The metadata alone, for a stream that is to have no block comments. */
void encoder_place(struct encoder *e, uint64_t time, uint64_t thread);

/*
 * Append a record with the metadata that it needs.  Returns false and writes
 * nothing if fewer than ENCODER_RECORD_MAX_NBYTES are free, or if HATF cannot
 * express the record (tag above 10, attributes over 65535 bytes).
 */
bool encoder_put(struct encoder *e, const struct hatf_record *rec);

/*
 * End the block: fill in its "bytes=".  The bytes are e->buf[0, e->used).
 * encoder_reset() then empties the buffer for the next block.
 */
void encoder_end(struct encoder *e);
void encoder_reset(struct encoder *e);

/* Data records so far (tags 0 to 10). */
uint64_t encoder_data_records(const struct encoder *e);

#endif /* HATF_ENCODER_H */
