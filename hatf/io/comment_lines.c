/* SPDX-License-Identifier: MIT */
/*
 * comment_lines.c - see comment_lines.h
 */
#include "hatf/io/comment_lines.h"

#include "hatf/codec/comment_text.h"

#include <stdlib.h>
#include <string.h>

/*
 * Append one line.  The buffer always has room, because unescaping only
 * shortens a value, and two NULs replace '=' and the newline.  The last line
 * may have no newline, so comment_lines_set() allocates one more byte.
 */
static void
add(struct comment_lines *lines, const char *line, size_t nbytes)
{
	const char *const equals = memchr(line, '=', nbytes);

	if (equals == NULL)
		return;

	const size_t key_nbytes = (size_t)(equals - line);
	char *const key = lines->buf + lines->nbytes;

	memcpy(key, line, key_nbytes);
	key[key_nbytes] = '\0';
	/* Omit a key with a NUL in it, because no C string can look it up. */
	if (strlen(key) != key_nbytes)
		return;

	char *const value = key + key_nbytes + 1;

	text_find(line, nbytes, key, value, nbytes - key_nbytes);
	/* The value is a C string: its first NUL, escaped or not, ends it. */
	lines->nbytes += key_nbytes + 1 + strlen(value) + 1;
}

bool
comment_lines_set(struct comment_lines *lines, const char *comment,
		  size_t nbytes)
{
	size_t next = 0;

	comment_lines_fini(lines);
	lines->buf = malloc(nbytes + 1);
	if (lines->buf == NULL)
		return false;
	while (next < nbytes) {
		const char *const line = comment + next;
		const char *const newline = memchr(line, '\n', nbytes - next);
		const size_t length = newline == NULL
					      ? nbytes - next
					      : (size_t)(newline - line);

		add(lines, line, length);
		next += length + 1;
	}
	return true;
}

const char *
comment_lines_find(const struct comment_lines *lines, const char *key)
{
	size_t next = 0;

	while (next < lines->nbytes) {
		const char *const found = lines->buf + next;
		const char *const value = found + strlen(found) + 1;

		if (strcmp(found, key) == 0)
			return value;
		next += (size_t)(value - found) + strlen(value) + 1;
	}
	return NULL;
}

void
comment_lines_fini(struct comment_lines *lines)
{
	free(lines->buf);
	*lines = (struct comment_lines){ 0 };
}
