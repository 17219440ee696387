/* SPDX-License-Identifier: MIT */
/*
 * decoder.h - decode the bytes of a HATF stream into records
 *
 * A decoder has the state that a reader keeps between two records: the layout
 * of the fields and the counts.  It does not know about files, input windows or
 * our own comments.  It allocates nothing.  A decoder has one owner, who
 * serialises all calls.
 *
 * Invariant: a record is decoded whole or not at all.  If the bytes end inside
 * a record, the state is as before that record, and decoding can continue at
 * its first byte once there are more bytes.
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
	DECODER_FULL,	 /* there is no room for another record */
	DECODER_MORE,	 /* all bytes are decoded but a truncated record */
	DECODER_COMMENT, /* the last record is a comment: it may be framing */
	DECODER_BAD,	 /* the next record is bad: see 'status', 'field' */
};

/* One length per tag, for additions in one instruction. */
typedef uint8_t decoder_lengths __attribute__((vector_size(16)));

struct decoder {
	struct layout layout;
	/*
	 * Derived from 'layout': the length of a record before its variable
	 * part, and the length of the variable part (tags 0 to 9) or one of the
	 * LENGTH_ codes of decoder.c.
	 */
	decoder_lengths fixed_nbytes;
	uint32_t extra_nbytes;
	unsigned unusual; /* 1 << field: decode_plain_run() cannot decode it */
	struct hatf_record blank; /* values of fields that are not unusual */
	uint64_t offset;	  /* of the next record in the stream, bytes */
	uint64_t record_count;	  /* tags 0 to 10 */
	uint64_t event_count;	  /* logical events */
	uint64_t tag_count[HATF_TAG_COUNT];
	struct pairing pairing;
	enum decoder_stop stop;
	enum hatf_status status; /* of DECODER_BAD */
	const char *field;	 /* static, or NULL */
	bool want_metadata;	 /* store metadata records too */
};

/*
 * Start at offset 0 of a stream.  With 'want_metadata', decoder_decode() stores
 * metadata records, too.
 */
void decoder_init(struct decoder *d, bool want_metadata);

/*
 * Decode records from [*next, end) into 'records', at most 'max'.  Move '*next'
 * past them, set d->stop to the reason for stopping, and return the number of
 * records stored.  Their attributes point into the bytes, which stay the
 * caller's.
 */
size_t decoder_decode(struct decoder *d, const uint8_t **next,
		      const uint8_t *end, struct hatf_record *records,
		      size_t max);

/*
 * The record at 'p' is truncated: the stream ends after 'left' bytes of it, at
 * least 1.  Return the name, in FORMAT.md, of the first field that is not
 * complete (static).
 */
const char *decoder_cut_field(const struct decoder *d, const uint8_t *p,
			      size_t left);

#endif /* HATF_DECODER_H */
