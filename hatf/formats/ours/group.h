/* SPDX-License-Identifier: MIT */
/*
 * group.h - the streams of a trace, divided into groups of records
 *
 * Shared by Split Stream and SplitAddr (FORMATS "Groups").  A file is a magic
 * number and groups, the last of which is empty.  A group describes a number of
 * records: it has one piece of each stream, compressed separately.
 *
 * A reader holds a whole group in memory, so the limits below bound its memory,
 * whatever the file claims.  One thread uses a group.
 */
#ifndef HATF_GROUP_H
#define HATF_GROUP_H

#include "hatf/formats/common/format.h"
#include "hatf/io/gzip_members.h"

#define GROUP_MAGIC_NBYTES 8

/*
 * Limits of a group.  A byte of a stream is at most one record, so they also
 * bound the number of records.
 */
#define GROUP_RECORDS_MAX ((uint32_t)1 << 18)
#define GROUP_PIECE_MAX	  ((uint32_t)4 << 20) /* bytes, uncompressed */

#define GROUP_STREAM_MAX 9

/*
 * Readable bytes after the end of a piece, so that a loop can fetch whole
 * numbers without checking for the end.
 */
#define GROUP_SLACK_NBYTES 64

/* A piece of a stream.  'nbytes' 0 and 'form' 0: the group has none. */
struct piece {
	unsigned form; /* meaning depends on the format */
	uint64_t base;
	uint8_t *bytes;
	size_t nbytes, cap;
};

/* ---------------------------------------------------------------- reading */

/* A group in memory. */
struct group {
	uint32_t record_count;
	/* Offsets of the group in the uncompressed trace, headers included. */
	uint64_t offset, end_offset;
	struct piece piece[GROUP_STREAM_MAX];
	struct inflate *inflate;
	uint8_t *packed; /* a piece as it is in the file */
	size_t packed_cap;
};

/*
 * Begin to read groups after the magic number at the start of the window.
 * Errors: HATF_NO_MEMORY.  Call group_fini() whatever the result.
 */
enum hatf_status group_open(struct source *s, struct group *g);
void group_fini(struct group *g);

/*
 * Read the next group, with streams below 'stream_count'.  At the end of the
 * trace or on an error, call source_stop() and return false.  Advance s->offset
 * past the headers of the group.
 */
bool group_read(struct source *s, struct group *g, unsigned stream_count);

/* ---------------------------------------------------------------- writing */

/* Write the header of a group of 'piece_count' pieces; 0, 0: the end. */
void group_put_header(struct sink *s, uint32_t record_count,
		      unsigned piece_count);

/*
 * Write a piece of at most GROUP_PIECE_MAX bytes.  Compress it if the caller
 * wants compression and the result is shorter.  Write the streams of a group in
 * ascending order.  Errors are in s->out.
 */
void group_put_piece(struct sink *s, struct gzip_members *pack, unsigned stream,
		     unsigned form, uint64_t base, const uint8_t *bytes,
		     size_t nbytes);

/* Return the level that the caller chose, or zlib's default. */
int group_level(const struct sink *s);

/* Errors: HATF_BAD_OPTION, if the caller chose an invalid level. */
enum hatf_status group_check_level(struct sink *s);

#endif /* HATF_GROUP_H */
