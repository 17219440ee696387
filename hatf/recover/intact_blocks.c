/* SPDX-License-Identifier: MIT */
/*
 * intact_blocks.c - see intact_blocks.h
 *
 * First step from block to block by their lengths (FORMAT "Trace blocks" and
 * "Compression").  Inflate each gzip member on the way, because a member of the
 * right length may still have damaged contents.  Then read and count all
 * records of these blocks.  If a record of a trace that is not compressed is
 * unreadable, only the blocks before the block of this record count as intact.
 * If a record of a compressed trace is unreadable, no block counts as intact.
 */
#include "hatf/recover/intact_blocks.h"

#include "hatf/codec/bytes.h"
#include "hatf/codec/comment_text.h"
#include "hatf/formats/common/framing.h"
#include "hatf/formats/common/tally.h"
#include "hatf/io/inflate.h"
#include "hatf/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Upper limit of the length of a block that the recorder writes, compressed or
 * not.
 */
#define MEMBER_NBYTES ((size_t)512 * 1024)

/*
 * COMMENT_HEAD_NBYTES: size of the tag and the length field of a comment.
 * BLOCK_COMMENT_NBYTES: more than the length of the text of any block comment.
 */
#define COMMENT_HEAD_NBYTES  3
#define BLOCK_COMMENT_NBYTES 256

#define BATCH_COUNT 256

/* Where a block ends, in the file and in the uncompressed stream. */
struct block_end {
	uint64_t file, stream;
};

/* Read up to 'nbytes' bytes; return how many were read. */
static size_t
read_at(int fd, void *buf, size_t nbytes, uint64_t offset)
{
	size_t used = 0;

	while (used < nbytes) {
		const ssize_t n = pread(fd, (char *)buf + used, nbytes - used,
					(off_t)(offset + used));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	return used;
}

static bool
is_block(const char *text, size_t nbytes)
{
	static const char kind[] = "HATF block\n";

	return nbytes >= sizeof(kind) - 1 &&
	       memcmp(text, kind, sizeof(kind) - 1) == 0;
}

/* --------------------------------------------------------------- the blocks */

/*
 * Return the length that the block comment of the block at 'offset' states; 0
 * if there is no such comment or the length is impossible.  A block begins with
 * its block comment, but in the first block, the header comes before it.
 */
static uint64_t
plain_nbytes(int fd, uint64_t offset)
{
	uint8_t buf[COMMENT_HEAD_NBYTES + BLOCK_COMMENT_NBYTES];
	const char *const text = (const char *)buf + COMMENT_HEAD_NBYTES;
	uint64_t at = offset, nbytes;
	size_t length, n;

	for (;;) {
		n = read_at(fd, buf, sizeof(buf), at);
		if (n < COMMENT_HEAD_NBYTES || buf[0] != HATF_COMMENT)
			return 0;
		length = get_be16(buf + 1);
		n -= COMMENT_HEAD_NBYTES;
		if (at != 0)
			break;
		at = COMMENT_HEAD_NBYTES + length;
	}
	if (n < length || !is_block(text, length) ||
	    !text_find_u64(text, length, "bytes", &nbytes) ||
	    nbytes <= at - offset + length || nbytes > MEMBER_NBYTES)
		return 0;
	return nbytes;
}

static uint64_t
member_nbytes(int fd, uint64_t offset)
{
	uint8_t buf[INFLATE_HEADER_NBYTES];

	return read_at(fd, buf, sizeof(buf), offset) == sizeof(buf)
		       ? inflate_member_nbytes(buf)
		       : 0;
}

static bool
is_compressed(int fd)
{
	uint8_t buf[2] = { 0, 0 };

	read_at(fd, buf, sizeof(buf), 0);
	return buf[0] == 0x1f && buf[1] == 0x8b;
}

/* What is needed to inflate gzip members. */
struct members {
	int fd;
	struct inflate *inflate;
	uint8_t *buf; /* memory for a member and for its data */
};

static bool
open_members(struct members *m, int fd)
{
	m->fd = fd;
	m->inflate = inflate_open();
	m->buf = malloc(2 * MEMBER_NBYTES);
	return m->inflate != NULL && m->buf != NULL;
}

static void
close_members(struct members *m)
{
	inflate_close(m->inflate);
	free(m->buf);
}

/*
 * If a complete and undamaged member begins at '*end', move '*end' past this
 * member and return true.
 */
static bool
step_over_member(const struct members *m, struct block_end *end)
{
	const uint64_t n = member_nbytes(m->fd, end->file);
	size_t data_nbytes;

	if (n == 0 || n > MEMBER_NBYTES ||
	    read_at(m->fd, m->buf, n, end->file) != n)
		return false;
	data_nbytes = inflate_data_nbytes(m->buf, n);
	if (data_nbytes > MEMBER_NBYTES ||
	    !inflate_member(m->inflate, m->buf, n, m->buf + MEMBER_NBYTES,
			    data_nbytes))
		return false;
	end->file += n;
	end->stream += data_nbytes;
	return true;
}

/* Is the member at 'offset' complete and undamaged? */
static bool
is_good_member(int fd, uint64_t offset)
{
	struct block_end end = { .file = offset };
	struct members m;
	const bool is_good = open_members(&m, fd) && step_over_member(&m, &end);

	close_members(&m);
	return is_good;
}

bool
intact_blocks_end_at(int fd, uint64_t offset)
{
	const bool compressed = is_compressed(fd);
	uint64_t at = 0, last = 0;

	while (at < offset) {
		const uint64_t n = compressed ? member_nbytes(fd, at)
					      : plain_nbytes(fd, at);

		if (n == 0 || n > offset - at)
			return false;
		last = at;
		at += n;
	}
	return !compressed || offset == 0 || is_good_member(fd, last);
}

/* Find the end of the last complete block. */
static enum hatf_status
find_last_end(int fd, struct block_end *end)
{
	struct stat st;
	struct members m;
	bool is_fine;

	*end = (struct block_end){ .file = 0 };
	if (fstat(fd, &st) != 0)
		return HATF_IO;
	if (is_compressed(fd)) {
		is_fine = open_members(&m, fd);
		while (is_fine && step_over_member(&m, end))
			continue;
		close_members(&m);
		return is_fine ? HATF_OK : HATF_NO_MEMORY;
	}
	for (;;) {
		const uint64_t n = plain_nbytes(fd, end->file);

		if (n == 0 || n > (uint64_t)st.st_size - end->file)
			return HATF_OK;
		end->file = end->stream = end->file + n;
	}
}

/* -------------------------------------------------------------- the records */

struct count {
	struct tally tally;
	uint64_t end; /* offset in the stream: end of the last complete block */
	struct intact_blocks now,
		/* what 'now' was at the start of the block being read */
		block;
};

/*
 * Count the lost events that a comment reports.  If the comment begins a block,
 * note that the blocks before the comment are complete.
 */
static void
note_comment(struct count *c, const struct hatf_record *rec)
{
	const char *const text = (const char *)rec->attributes;
	const size_t nbytes = rec->attributes_nbytes;
	uint64_t n = 0;

	if (is_block(text, nbytes)) {
		c->now.stream_nbytes = rec->offset;
		c->now.record_count = c->tally.record_count;
		c->now.event_count = c->tally.event_count;
		if (c->now.block_count != 0)
			c->block = c->now;
		c->now.block_count++;
	} else if (framing_is_loss(rec) &&
		   text_find_u64(text, nbytes, "count", &n)) {
		c->now.lost_count += n;
	}
}

/*
 * Count the records that begin before c->end.  Return false if 'records' has a
 * record that begins at c->end or later.
 */
static bool
count_batch(struct count *c, const struct hatf_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (records[i].offset >= c->end)
			return false;
		if (records[i].tag == HATF_COMMENT)
			note_comment(c, &records[i]);
		else
			c->now.time = records[i].time;
		tally_note(&c->tally, &records[i]);
	}
	return true;
}

/*
 * Count the records up to 'end'.  If a record cannot be read, count only the
 * blocks before the block of this record.
 */
static enum hatf_status
count_records(int fd, const struct block_end *end, struct intact_blocks *ret)
{
	struct count c = { .end = end->stream };
	struct hatf_record records[BATCH_COUNT];
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	enum hatf_status status = HATF_TRUNCATED;
	bool is_whole = false;
	size_t n;

	if (lseek(fd, 0, SEEK_SET) != 0)
		return HATF_IO;
	if (reader_open_fd(fd, &reader) != HATF_OK)
		return HATF_TRUNCATED;
	while (!is_whole &&
	       (status = hatf_reader_read(reader, records, BATCH_COUNT, &n)) ==
		       HATF_OK)
		is_whole = !count_batch(&c, records, n);
	hatf_reader_get_stats(reader, &stats);
	/*
	 * If no record follows 'end', the loop does not see that the reader has
	 * reached 'end'.  So compare how many bytes the reader has read with
	 * the offset of 'end'.
	 */
	is_whole |= stats.hatf_nbytes == end->stream;
	hatf_reader_close(reader);
	*ret = c.block;
	if (is_whole) {
		*ret = c.now;
		ret->stream_nbytes = end->stream;
		ret->record_count = c.tally.record_count;
		ret->event_count = c.tally.event_count;
		ret->has_trailer = status == HATF_END;
	}
	return status == HATF_NO_MEMORY || status == HATF_IO ? status : HATF_OK;
}

enum hatf_status
intact_blocks_read(int fd, struct intact_blocks *ret)
{
	struct block_end end;
	enum hatf_status status = find_last_end(fd, &end);

	*ret = (struct intact_blocks){ .file_nbytes = 0 };
	if (status == HATF_OK)
		status = count_records(fd, &end, ret);
	if (status != HATF_OK)
		return status;
	/*
	 * A trace that is not compressed is as long as its stream.  In a
	 * compressed trace, each member has a checksum, so all blocks that
	 * find_last_end() accepted must be readable.  If a block is unreadable
	 * all the same, count no block as intact.
	 */
	ret->file_nbytes = ret->stream_nbytes;
	if (is_compressed(fd))
		ret->file_nbytes =
			ret->stream_nbytes == end.stream ? end.file : 0;
	return ret->file_nbytes != 0 ? HATF_OK : HATF_TRUNCATED;
}
