/* SPDX-License-Identifier: MIT */
/*
 * trailer.c - see trailer.h
 *
 * The trailer is the last record.  In an uncompressed trace, the trailer is the
 * comment that ends exactly at the end of the file according to its length
 * field.  In a trace that hatftrace compressed, each trace block is a gzip
 * member with its length in the member's header (FORMAT "Compression").  The
 * last member is the one that ends at the end of the file.  A small trace that
 * another program compressed is read from its start.
 *
 * At most one comment or member is tried, because a hostile file may be full of
 * bytes that look like comments or members, and to try all of them would take
 * hours.
 */
#include "tools/trace/trailer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Enough for the last trace block, which has about 256 KiB, compressed or not.
 */
#define TAIL_NBYTES (1u << 20)

static const char end_kind[] = "HATF end\n";
#define END_KIND_NBYTES (sizeof(end_kind) - 1)

#define MEMBER_HEADER_NBYTES 20

bool
trailer_find_number(const char *text, size_t nbytes, const char *key,
		    uint64_t *n_ret)
{
	const size_t key_nbytes = strlen(key);
	const char *const end = text + nbytes;

	for (const char *line = text; line < end;) {
		const char *const stop =
			memchr(line, '\n', (size_t)(end - line));
		const char *p = line + key_nbytes;

		if (stop == NULL)
			return false;
		if ((size_t)(stop - line) > key_nbytes + 1 &&
		    memcmp(line, key, key_nbytes) == 0 && *p == '=') {
			uint64_t n = 0;

			while (++p < stop && *p >= '0' && *p <= '9')
				n = n * 10 + (uint64_t)(*p - '0');
			*n_ret = n;
			return p == stop;
		}
		line = stop + 1;
	}
	return false;
}

/*
 * Copy the value of 'key' to 'buf', truncated to 'cap' bytes.  'key' has the
 * form "\nKEY=".  If 'text' does not contain 'key', the copy is "".
 */
static void
find_text(const char *text, size_t nbytes, const char *key, char *buf,
	  size_t cap)
{
	const char *const found = memmem(text, nbytes, key, strlen(key));
	const char *const value = found != NULL ? found + strlen(key) : text;
	size_t n = 0;

	if (found != NULL)
		while (value + n < text + nbytes && value[n] != '\n' &&
		       n + 1 < cap)
			n++;
	memcpy(buf, value, n);
	buf[n] = '\0';
}

/* Parse a comment.  Return false if the comment is not a trailer. */
static bool
parse(const char *text, size_t nbytes, struct trailer *ret)
{
	uint64_t complete;

	if (nbytes < END_KIND_NBYTES ||
	    memcmp(text, end_kind, END_KIND_NBYTES) != 0 ||
	    !trailer_find_number(text, nbytes, "complete", &complete) ||
	    !trailer_find_number(text, nbytes, "events", &ret->event_count))
		return false;
	ret->complete = complete == 1;
	find_text(text, nbytes, "\nend=", ret->end, sizeof(ret->end));
	find_text(text, nbytes, "\nerror=", ret->error, sizeof(ret->error));
	find_text(text, nbytes, "\nmissed=", ret->missed, sizeof(ret->missed));
	if (!trailer_find_number(text, nbytes, "lost", &ret->lost_count))
		ret->lost_count = 0;
	if (!trailer_find_number(text, nbytes, "time", &ret->time))
		ret->time = 0;
	return true;
}

static bool
find_plain(const uint8_t *buf, size_t nbytes, struct trailer *ret)
{
	for (size_t at = nbytes; at-- > 0;) {
		const uint8_t *const text = buf + at + 3;
		const size_t left = nbytes - at;

		if (left < 3 + END_KIND_NBYTES || buf[at] != HATF_COMMENT)
			continue;
		if ((size_t)(buf[at + 1] << 8 | buf[at + 2]) == left - 3 &&
		    memcmp(text, end_kind, END_KIND_NBYTES) == 0)
			return parse((const char *)text, left - 3, ret);
	}
	return false;
}

/*
 * Read a stream to its end.  Return true if the stream can be read to its end
 * and its last record is a trailer.
 */
static bool
read_stream(int fd, struct trailer *ret)
{
	const struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
		.fd = fd,
	};
	struct hatf_record records[64];
	struct hatf_reader *reader;
	enum hatf_status status;
	bool found = false;
	size_t n;

	if (hatf_reader_open(NULL, &options, &reader, NULL) != HATF_OK)
		return false;
	while ((status = hatf_reader_read(reader, records, 64, &n)) ==
	       HATF_OK) {
		const struct hatf_record *const last = &records[n - 1];

		found = last->tag == HATF_COMMENT &&
			parse((const char *)last->attributes,
			      last->attributes_nbytes, ret);
	}
	hatf_reader_close(reader);
	return found && (status == HATF_END || status == HATF_NO_TRAILER);
}

/*
 * Copy the bytes to a file of their own, because a reader begins at the start
 * of a file.  Then read the trailer from that file.
 */
static bool
read_member(const uint8_t *buf, size_t nbytes, struct trailer *ret)
{
	const int fd = memfd_create("hatf-tail", MFD_CLOEXEC);
	bool found = false;

	if (fd < 0)
		return false;
	if (write(fd, buf, nbytes) == (ssize_t)nbytes &&
	    lseek(fd, 0, SEEK_SET) == 0)
		found = read_stream(fd, ret);
	close(fd);
	return found;
}

/*
 * Does the header of one of our gzip members begin at 'p', and does the member
 * have 'nbytes' bytes?
 */
static bool
is_member(const uint8_t *p, size_t nbytes)
{
	static const uint8_t start[] = { 0x1f, 0x8b, 8, 4 };
	static const uint8_t extra[] = { 8, 0, 'H', 'T', 4, 0 };

	return memcmp(p, start, sizeof(start)) == 0 &&
	       memcmp(p + 10, extra, sizeof(extra)) == 0 &&
	       ((uint32_t)p[16] | (uint32_t)p[17] << 8 | (uint32_t)p[18] << 16 |
		(uint32_t)p[19] << 24) == nbytes;
}

/*
 * Read the trailer from the last gzip member.  'buf' has the last bytes of the
 * file or, if 'is_whole', the whole file.
 */
static bool
find_gzip(const uint8_t *buf, size_t nbytes, bool is_whole, struct trailer *ret)
{
	for (size_t left = MEMBER_HEADER_NBYTES; left <= nbytes; left++)
		if (is_member(buf + nbytes - left, left))
			return read_member(buf + nbytes - left, left, ret);
	return is_whole && read_member(buf, nbytes, ret);
}

static bool
read_tail(int fd, uint8_t *buf, struct trailer *ret)
{
	struct stat st;
	uint8_t first[2];

	if (fstat(fd, &st) != 0 || pread(fd, first, 2, 0) != 2)
		return false;

	const off_t from =
		st.st_size > TAIL_NBYTES ? st.st_size - TAIL_NBYTES : 0;
	const ssize_t n = pread(fd, buf, TAIL_NBYTES, from);

	if (n <= 0 || n != st.st_size - from)
		return false;
	return first[0] == 0x1f && first[1] == 0x8b
		       ? find_gzip(buf, (size_t)n, from == 0, ret)
		       : find_plain(buf, (size_t)n, ret);
}

bool
trailer_read(const char *path, bool is_found, struct trailer *ret)
{
	uint8_t *const buf = malloc(TAIL_NBYTES);
	bool found = false;
	int fd;

	if (is_found)
		hatf_file_open_found(path, &fd, NULL);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC);

	if (buf != NULL && fd >= 0)
		found = read_tail(fd, buf, ret);
	if (fd >= 0)
		close(fd);
	free(buf);
	return found;
}

bool
trailer_can_be_copied(const struct hatf_reader *reader)
{
	return hatf_reader_trailer(reader, "error") == NULL &&
	       hatf_reader_trailer(reader, "missed") == NULL;
}
