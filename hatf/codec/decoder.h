/* SPDX-License-Identifier: MIT */
/*
 * decoder.h - bytes of HATF into records
 *
 * Holds what a reader must know between two records: the layout of the fields and
 * the counts.  Knows nothing of files, windows or our own comments.  Allocates
 * nothing.
 *
 * Invariant: a record is decoded whole or not at all.  Where the bytes end inside
 * one, nothing of the state has changed, and decoding can go on from the record's
 * first byte when there are more.
 */
#ifndef HATF_DECODER_H
#define HATF_DECODER_H

#include "hatf/codec/layout.h"
#include "hatf/codec/pairing.h"
#include "hatf/hatf.h"

/*
 * The longest record: a comment of 65535 bytes takes less than a realloc with as
 * many bytes of attributes and six numbers of 8 bytes.  A window that holds
 * this many bytes always holds a whole record.
 */
#define DECODER_RECORD_MAX_NBYTES (1 + 6 * 8 + 2 + 65535)

/* Why decoder_decode() stopped. */
enum decoder_stop {
	DECODER_FULL,	 /* there is no room for another record */
	DECODER_MORE,	 /* the bytes end inside a record, or where one ends */
	DECODER_COMMENT, /* the last record is a comment: it may be framing */
	DECODER_BAD,	 /* see 'status' and 'field' */
};

/* A length for each tag; added up as one. */
typedef uint8_t decoder_lengths __attribute__((vector_size(16)));

struct decoder {
	struct layout layout;
	/*
	 * Derived from 'layout': what a record takes before its variable part,
	 * and the length of that or one of the LENGTH_ codes of decoder.c.
	 */
	decoder_lengths fixed_nbytes;
	uint32_t extra_nbytes; /* tags 0 to 9 */
	unsigned unusual;      /* 1 << field: it is not for the fastest loop */
	struct hatf_record blank; /* thread, heap and time, if not unusual */
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

void decoder_init(struct decoder *d, bool want_metadata);

/*
 * Decode records from [*next, end) into 'records', at most 'max', move '*next'
 * past them and say in d->stop why it ended.  Returns how many were stored.
 * Attributes point into [*next, end).
 */
size_t decoder_decode(struct decoder *d, const uint8_t **next,
		      const uint8_t *end, struct hatf_record *records,
		      size_t max);

/*
 * Which field of the record that begins at 'p' lies where the stream ends 'left'
 * bytes later: a name of FORMAT.md, static.  The record must be cut off there.
 */
const char *decoder_cut_field(const struct decoder *d, const uint8_t *p,
			      size_t left);

#endif /* HATF_DECODER_H */
