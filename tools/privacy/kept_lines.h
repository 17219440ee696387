/* SPDX-License-Identifier: MIT */
/*
 * kept_lines.h - comment lines that identify nobody
 *
 * For each kind of comment in FORMAT.md (section "Comments of this project"), a
 * table lists the keys that may stay and the type of their values.  A number
 * or a word of a given list stays as it is.  A pseudonym replaces a name.  For
 * a few keys, a fixed value replaces any value.  All other lines are omitted.
 */
#ifndef KEPT_LINES_H
#define KEPT_LINES_H

#include "hatf/hatf.h"
#include "tools/privacy/pseudonyms.h"

#include <stddef.h>

/*
 * Large enough for all keys of any kind of comment with their longest values.
 */
#define KEPT_LINES_NBYTES 4096

enum kept_result {
	KEPT_SOME,
	/* omit the comment, but do not count it: see 'kinds' in kept_lines.c */
	KEPT_FRAMING,
	KEPT_NOTHING, /* the table does not list this kind of comment */
	KEPT_NO_MEMORY,
};

/*
 * Append to 'out' those of 'lines' that a comment of the kind 'kind' may keep.
 * 'out' has room for KEPT_LINES_NBYTES bytes, of which '*used_ret' are in use.
 * Add the appended bytes to '*used_ret'.
 */
enum kept_result kept_lines_of(const char *kind, const char *lines,
			       size_t nbytes, struct pseudonyms *names,
			       char *out, size_t *used_ret);

/*
 * Like kept_lines_of(), for a whole comment, whose first line is its kind.
 * Overwrite 'out' from its start, and set '*used_ret' to the bytes written.
 */
enum kept_result kept_lines_of_comment(const struct hatf_record *comment,
				       struct pseudonyms *names, char *out,
				       size_t *used_ret);

#endif /* KEPT_LINES_H */
