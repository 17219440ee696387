/* SPDX-License-Identifier: MIT */
/*
 * comment_lines.h - the "key=value" lines of one comment, kept for look-up
 *
 * Copies a comment into NUL-terminated keys and unescaped values, which stay
 * valid after the buffer of the comment is reused.  Used by one thread at a
 * time.
 */
#ifndef HATF_COMMENT_LINES_H
#define HATF_COMMENT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* "key\0value\0" repeatedly; all zeros is "no lines". */
struct comment_lines {
	char *buf;
	size_t nbytes;
};

/*
 * Replace the content of 'lines' by the lines of 'comment'.  Skip lines without
 * '='.  Return false, with no lines, if there is no memory.
 */
bool comment_lines_set(struct comment_lines *lines, const char *comment,
		       size_t nbytes);

/*
 * Return the value of the first line with 'key', or NULL.  It is valid until
 * the lines change.
 */
const char *comment_lines_find(const struct comment_lines *lines,
			       const char *key);

/* Free the lines; none are left. */
void comment_lines_fini(struct comment_lines *lines);

#endif /* HATF_COMMENT_LINES_H */
