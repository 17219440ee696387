/* SPDX-License-Identifier: MIT */
/*
 * kept_lines.h - the lines of comments that tell nothing about anybody
 *
 * For each kind of comment of FORMAT, "Comments of this project", a table says
 * which keys may stay and what their values are: numbers, words of a list, or
 * names, which get pseudonyms.  All else is left out.
 */
#ifndef KEPT_LINES_H
#define KEPT_LINES_H

#include "hatf/hatf.h"
#include "tools/privacy/pseudonyms.h"

#include <stddef.h>

/* Enough for all keys of a kind with their longest values. */
#define KEPT_LINES_NBYTES 4096

enum kept_result {
	KEPT_SOME,
	KEPT_FRAMING, /* the writer makes it itself; nothing is lost */
	KEPT_NOTHING, /* not a kind of the table */
	KEPT_NO_MEMORY,
};

/*
 * Write the lines of a comment of this kind that may stay to 'out', of
 * KEPT_LINES_NBYTES, and their length to '*used_ret'.
 */
enum kept_result kept_lines_of(const char *kind, const char *lines,
			       size_t nbytes, struct pseudonyms *names,
			       char *out, size_t *used_ret);

/* The same for a comment with its first line. */
enum kept_result kept_lines_of_comment(const struct hatf_record *comment,
				       struct pseudonyms *names, char *out,
				       size_t *used_ret);

#endif /* KEPT_LINES_H */
