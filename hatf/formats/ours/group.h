/* SPDX-License-Identifier: MIT */
/*
 * group.h - the streams of a trace, divided into groups of records
 *
 * Split Stream and SplitAddr share this format (FORMATS "Groups").  A file is a
 * magic number and groups, the last of which is empty.  A group describes a
 * number of records.  It has at most one piece of each stream, and each piece
 * is compressed separately.
 *
 * A reader has a whole group in memory, so the limits below bound its memory,
 * whatever the file says.  Only one thread may use a group.
 */
#ifndef HATF_GROUP_H
#define HATF_GROUP_H

#include "hatf/formats/common/format.h"
#include "hatf/io/gzip_members.h"

#define GROUP_MAGIC_NBYTES 8

/* Limits of a group: the number of its records, and the length of a piece. */
#define GROUP_RECORDS_MAX ((uint32_t)1 << 18)
#define GROUP_PIECE_MAX	  ((uint32_t)4 << 20) /* in bytes, uncompressed */

#define GROUP_STREAM_MAX 9

/*
 * Number of readable bytes after the end of a piece.  Thanks to these bytes, a
 * loop can fetch whole numbers without checking for the end.
 */
#define GROUP_SLACK_NBYTES 64

/*
 * A piece of a stream.  If 'form' is 0, the group has no piece of this stream,
 * and 'nbytes' is 0.
 */
struct piece {
	/* how the piece is encoded; the values depend on the format */
	unsigned form;
	uint64_t base;
	uint8_t *bytes;
	size_t nbytes, cap;
};

/* ---------------------------------------------------------------- reading */

/* A group that has been read. */
struct group {
	uint32_t record_count;
	/*
	 * Where the group begins and ends in the uncompressed trace, headers
	 * included.
	 */
	uint64_t offset, end_offset;
	struct piece piece[GROUP_STREAM_MAX];
	struct inflate *inflate;
	uint8_t *packed; /* memory for the compressed bytes of a piece */
	size_t packed_cap;
};

/*
 * Prepare to read groups.  The magic number must be at the start of the window.
 * Errors: HATF_NO_MEMORY.  Call group_fini() whatever the result.
 */
enum hatf_status group_open(struct source *s, struct group *g);
void group_fini(struct group *g);

/*
 * Read the next group, whose stream numbers must be below 'stream_count'.  At
 * the end of the trace or on an error, call source_stop() and return false.
 * Set g->offset and g->end_offset.  Do not change s->offset, except at the end
 * of the trace: then advance it past the empty group.
 */
bool group_read(struct source *s, struct group *g, unsigned stream_count);

/* ---------------------------------------------------------------- writing */

/*
 * Write the header of a group of 'record_count' records and 'piece_count'
 * pieces.  If both are 0, the header marks the end of the trace.
 */
void group_put_header(struct sink *s, uint32_t record_count,
		      unsigned piece_count);

/*
 * Write a piece of at most GROUP_PIECE_MAX bytes.  Compress the piece, unless
 * s->options.plain is set or compression makes the piece no shorter.  The
 * caller must write the pieces of a group in the order of their stream numbers.
 * Errors are in s->out.
 */
void group_put_piece(struct sink *s, struct gzip_members *pack, unsigned stream,
		     unsigned form, uint64_t base, const uint8_t *bytes,
		     size_t nbytes);

/* Return the compression level in s->options; if it is 0, zlib's default. */
int group_level(const struct sink *s);

/*
 * Check the compression level that the caller chose.  Errors: HATF_BAD_OPTION.
 */
enum hatf_status group_check_level(struct sink *s);

#endif /* HATF_GROUP_H */
