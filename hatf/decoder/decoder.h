/* SPDX-License-Identifier: MIT */
/*
 * decoder.h - decode the bytes of a HATF stream into records
 *
 * A decoder has the state that a reader keeps between two records: the layout
 * of the fields and the counts.  A decoder does not deal with files, input
 * windows or our own comments, and allocates nothing.  A decoder has one owner,
 * who serializes all calls.
 *
 * Invariant: a record is decoded as a whole or not at all.  If the bytes end
 * inside a record, the decoder keeps the state from before the record.  When
 * the caller has more bytes, the caller can continue at the record's first
 * byte.
 */
#ifndef HATF_DECODER_H
#define HATF_DECODER_H

#include "hatf/codec/layout.h"
#include "hatf/codec/pairing.h"
#include "hatf/hatf.h"

/*
 * Length of the longest record, a realloc with 65535 bytes of attributes and
 * six numbers of 8 bytes; a comment is shorter.  This many bytes from the start
 * of a record always contain the whole record.
 */
#define DECODER_RECORD_MAX_NBYTES (1 + 6 * 8 + 2 + 65535)

/* Why decoder_decode() stopped. */
enum decoder_stop {
	DECODER_FULL, /* 'records' is full */
	DECODER_MORE, /* the bytes that are left contain no whole record */
	/* the last record stored is a comment, which may begin a trace block */
	DECODER_COMMENT,
	DECODER_BAD, /* the next record is invalid: see 'status', 'field' */
};

/*
 * One length per tag, in a vector, so that one instruction adds to all of them.
 */
typedef uint8_t decoder_lengths __attribute__((vector_size(16)));

struct decoder {
	struct layout layout;
	/*
	 * The next two members are derived from 'layout'.  'fixed_nbytes' is,
	 * for each tag, the length of a record without its variable part.
	 * 'extra_nbytes' is, for tags 0 to 9, the length of the variable part,
	 * or one of the DECODER_LENGTH_ codes of decoder_runs.h.
	 */
	decoder_lengths fixed_nbytes;
	uint32_t extra_nbytes;
	/*
	 * Bits '1 << field': fields in a state that decode_plain_run() in
	 * decoder_runs.c cannot decode.  Even if the time is one of these
	 * fields, decode_plain_run() can decode it with the parameter
	 * 'has_time' set.
	 */
	unsigned unusual;
	/*
	 * A record in which all fields are 0, except that the time, the thread
	 * and the heap each have the 'origin' of their field in 'layout'.  If
	 * one of these three fields is not in 'unusual', all records have this
	 * value in the field until the next change of 'layout'.
	 */
	struct hatf_record blank;
	/* offset of the next record in the stream, in bytes */
	uint64_t offset;
	uint64_t record_count; /* number of records with tags 0 to 10 so far */
	uint64_t event_count;  /* number of logical events so far */
	uint64_t tag_count[HATF_TAG_COUNT];
	struct pairing pairing;
	enum decoder_stop stop;
	enum hatf_status status; /* why the next record is invalid */
	/* name of the invalid part (static), or NULL */
	const char *field;
	bool want_metadata; /* decoder_decode() stores metadata records, too */
};

/*
 * Start at offset 0 of a stream.  With 'want_metadata', decoder_decode() stores
 * metadata records, too.
 */
void decoder_init(struct decoder *d, bool want_metadata);

/*
 * Decode records from [*next, end) into 'records', at most 'max'.  Move '*next'
 * past these records, set d->stop to the reason for stopping, and return the
 * number of records stored.  The attributes of the records point into the
 * caller's bytes, before 'end'.
 */
size_t decoder_decode(struct decoder *d, const uint8_t **next,
		      const uint8_t *end, struct hatf_record *records,
		      size_t max);

/*
 * The record at 'p' must be truncated: the stream ends 'left' bytes after 'p',
 * and 'left' is at least 1.  Return the name of the first incomplete field
 * (static).
 */
const char *decoder_cut_field(const struct decoder *d, const uint8_t *p,
			      size_t left);

#endif /* HATF_DECODER_H */
