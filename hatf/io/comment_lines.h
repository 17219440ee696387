/* SPDX-License-Identifier: MIT */
/*
 * comment_lines.h - the "key=value" lines of one comment, kept for look-up
 *
 * A copy of a comment of ours as NUL-terminated keys and unescaped values, which
 * outlives the window that the comment was read from.
 */
#ifndef HATF_COMMENT_LINES_H
#define HATF_COMMENT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* "key\0value\0" one after the other; all 0 is "no lines". */
struct comment_lines {
	char *buf;
	size_t nbytes;
};

/*
 * Replace what is in 'lines' by the lines of 'comment'; those without a '=' are
 * left out.  Returns false, and leaves none, if there is no memory.
 */
bool comment_lines_set(struct comment_lines *lines, const char *comment,
		       size_t nbytes);

/* The value of the first line with 'key', or NULL. */
const char *comment_lines_find(const struct comment_lines *lines,
			       const char *key);

void comment_lines_fini(struct comment_lines *lines);

#endif /* HATF_COMMENT_LINES_H */
