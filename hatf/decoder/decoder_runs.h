/* SPDX-License-Identifier: MIT */
/*
 * decoder_runs.h - shared by decoder.c and decoder_runs.c
 *
 * A run is consecutive heap records (tags 0 to 5), which make up nearly all of
 * a trace.  This header is internal to these two files.  The rules of decoder.h
 * hold.
 */
#ifndef HATF_DECODER_RUNS_H
#define HATF_DECODER_RUNS_H

#include "hatf/decoder/decoder.h"

/*
 * If the length of attributes is in the record, 'extra_nbytes' is one of these
 * codes.
 */
/* the length is the last byte of the fixed part */
#define DECODER_LENGTH_V1 0x10000u
/* the length is the last two bytes of the fixed part */
#define DECODER_LENGTH_V2 0x10001u

/*
 * The tag, six numbers of 8 bytes, and 7 bytes after them that a fetch may
 * read.
 */
#define DECODER_FETCH_NBYTES (1 + 6 * 8 + 7)

/*
 * Maximum length of a record in a run.  With the width v1, a record has at most
 * 255 bytes of attributes.
 */
#define DECODER_RUN_RECORD_NBYTES (1 + 6 * 8 + 1 + 255)
_Static_assert(DECODER_RUN_RECORD_NBYTES >= DECODER_FETCH_NBYTES,
	       "8 bytes must be readable at each number");

/* Can a run begin with the record at 'p'? */
static inline bool
decoder_begins_run(const struct decoder *d, const uint8_t *p,
		   const uint8_t *end)
{
	return end - p >= DECODER_RUN_RECORD_NBYTES &&
	       p[0] <= HATF_REALLOC_FREE &&
	       d->extra_nbytes != DECODER_LENGTH_V2;
}

/*
 * Decode a run from '*next' on, at most 'max' records, with the fastest loop
 * that suits the layout.  Move '*next' past the run, count the records and
 * events of the run, and return the number of records.
 */
size_t decoder_decode_run(struct decoder *d, const uint8_t **next,
			  const uint8_t *end, struct hatf_record *records,
			  size_t max);

#endif /* HATF_DECODER_RUNS_H */
