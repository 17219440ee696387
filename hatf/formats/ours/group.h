/* SPDX-License-Identifier: MIT */
/*
 * group.h - the streams of a trace, some records at a time
 *
 * What Split Stream and SplitAddr have in common (FORMAT "Groups"): a file is a magic
 * number and groups, the last of which is empty; a group has the pieces of all
 * streams that belong to so many records, each compressed by itself.
 *
 * A group is read whole, so memory is what the limits below allow, whatever the
 * file says.
 */
#ifndef HATF_GROUP_H
#define HATF_GROUP_H

#include "hatf/formats/common/format.h"
#include "hatf/io/gzip_members.h"

#define GROUP_MAGIC_NBYTES 8

/*
 * Limits of a group.  A reader has all of it in memory, and one byte of a stream
 * can stand for no more than a record, or a part of one.
 */
#define GROUP_RECORDS_MAX ((uint32_t)1 << 18)
#define GROUP_PIECE_MAX	  ((uint32_t)4 << 20) /* bytes, before compression */

#define GROUP_STREAM_MAX 9

/*
 * Behind the bytes of a piece there are as many that may be read, so that numbers
 * can be fetched without asking where the piece ends.
 */
#define GROUP_SLACK_NBYTES 64

/* A piece of a stream.  'nbytes' 0 and 'form' 0: the group has none. */
struct piece {
	unsigned form; /* means what the format says */
	uint64_t base;
	uint8_t *bytes;
	size_t nbytes, cap;
};

/* ---------------------------------------------------------------- reading */

struct group {
	uint32_t record_count;
	/* Of the group in the uncompressed trace, headers and all. */
	uint64_t offset, end_offset;
	struct piece piece[GROUP_STREAM_MAX];
	struct inflate *inflate;
	uint8_t *packed; /* as it is in the file */
	size_t packed_cap;
};

/*
 * Begin to read groups, behind the magic that the window begins with.  Errors:
 * HATF_NO_MEMORY.  Needs group_fini() whatever the result.
 */
enum hatf_status group_open(struct source *s, struct group *g);
void group_fini(struct group *g);

/*
 * Read the next group, with streams below 'stream_count'.  At the end of the trace
 * and on errors, source_stop() is called and the result is false.  s->offset
 * becomes that behind the group's headers.
 */
bool group_read(struct source *s, struct group *g, unsigned stream_count);

/* ---------------------------------------------------------------- writing */

/* Write the header of a group of 'piece_count' pieces; 0, 0: the end. */
void group_put_header(struct sink *s, uint32_t record_count,
		      unsigned piece_count);

/*
 * Write a piece of at most GROUP_PIECE_MAX bytes, compressed if the trace is to
 * be and that makes it shorter.  Streams of a group are written in their order.
 */
void group_put_piece(struct sink *s, struct pack *pack, unsigned stream,
		     unsigned form, uint64_t base, const uint8_t *bytes,
		     size_t nbytes);

/* The level that the caller wants, or zlib's default. */
int group_level(const struct sink *s);

/* Fails with HATF_LIMIT for a level that there is not. */
enum hatf_status group_check_level(struct sink *s);

#endif /* HATF_GROUP_H */
