/* SPDX-License-Identifier: MIT */
/*
 * comment_lines.h - keep the "key=value" lines of one comment for look-up
 *
 * The functions copy a comment into NUL-terminated keys and unescaped values,
 * which stay valid after the buffer of the comment is reused.  Only one thread
 * at a time may use a 'struct comment_lines'.
 */
#ifndef HATF_COMMENT_LINES_H
#define HATF_COMMENT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The lines as "key\0value\0", one after the other.  All members 0: there are
 * no lines.
 */
struct comment_lines {
	char *buf;
	size_t nbytes;
};

/*
 * Replace the content of 'lines' by the lines of 'comment'.  Skip lines without
 * '='.  Return false if there is no memory; 'lines' is then empty.
 */
bool comment_lines_set(struct comment_lines *lines, const char *comment,
		       size_t nbytes);

/*
 * Return the value of the first line with 'key', or NULL.  The value is valid
 * until the lines change.
 */
const char *comment_lines_find(const struct comment_lines *lines,
			       const char *key);

/* Free the memory.  'lines' is then empty. */
void comment_lines_fini(struct comment_lines *lines);

#endif /* HATF_COMMENT_LINES_H */
