/* SPDX-License-Identifier: MIT */
/* heaptrack_header.c - see heaptrack_header.h */
#include "hatf/formats/heaptrack/heaptrack_header.h"

#include "hatf/codec/comment_text.h"
#include "hatf/formats/heaptrack/heaptrack_lines.h"

#include <string.h>

/* The versions of heaptrack (1.4.0) and of the file format. */
static const char version_line[] = "v 10400 3\n";

/*
 * The longest command, in bytes, with its NUL.  Together with the other lines
 * of the header, it must fit into the OUTFILE_ROOM_MAX bytes that a sink's
 * open() may write.
 */
#define COMMAND_MAX 16384

/*
 * Copy the value of a header line to 'buf', truncated to 'cap' bytes with the
 * NUL.  Return the length of the copy; 0 if there is no such line.
 */
static size_t
find_header(const struct sink *s, const char *key, char *buf, size_t cap)
{
	const char *const lines = s->options.header;
	ptrdiff_t nbytes;

	buf[0] = '\0';
	if (lines == NULL)
		return 0;
	nbytes = text_find(lines, strlen(lines), key, buf, cap);
	return nbytes < 0 ? 0 : strlen(buf);
}

/* Return the value of a header line as a number; 0 if there is no such line. */
static uint64_t
find_number(const struct sink *s, const char *key)
{
	const char *const lines = s->options.header;
	uint64_t n = 0;

	if (lines != NULL)
		text_find_u64(lines, strlen(lines), key, &n);
	return n;
}

bool
heaptrack_header_is(const struct sink *s, const char *key, const char *value)
{
	char buf[32];

	find_header(s, key, buf, sizeof(buf));
	return strcmp(buf, value) == 0;
}

uint64_t
heaptrack_write_header(struct sink *s)
{
	uint64_t page_nbytes = find_number(s, "page_size");
	char buf[COMMAND_MAX];
	size_t nbytes;

	if (page_nbytes == 0)
		page_nbytes = 4096;
	outfile_bytes(&s->out, version_line, sizeof(version_line) - 1);
	nbytes = find_header(s, "command", buf, sizeof(buf));
	if (nbytes == 0)
		nbytes = find_header(s, "exe", buf, sizeof(buf));
	if (nbytes != 0) {
		outfile_bytes(&s->out, "X ", 2);
		heaptrack_put_text(s, buf, nbytes);
		outfile_bytes(&s->out, "\n", 1);
	}
	heaptrack_put_line(
		s, 'I',
		(const uint64_t[]){ page_nbytes, find_number(s, "page_count") },
		2);
	if (heaptrack_header_is(s, "start", "late"))
		outfile_bytes(&s->out, "A\n", 2);
	return page_nbytes;
}
