/* SPDX-License-Identifier: MIT */
/*
 * suppressions.h - the suppression files of LeakSanitizer
 *
 * A file has one suppression a line, "leak:PATTERN".  Blanks around a line,
 * empty lines and lines that begin with '#' are ignored.  A stack is suppressed
 * if a pattern matches the function, the source file or the module of any of
 * its frames; of the frames of the allocator and of operator new, only the
 * function counts.  As in LeakSanitizer, a pattern matches a part of the text.
 * '*' matches any text.  '^' at the start of a pattern matches the start of the
 * text, and '$' at the end of a pattern matches the end of the text.
 */
#ifndef SUPPRESSIONS_H
#define SUPPRESSIONS_H

#include "hatf/hatf.h"

struct suppression {
	char *pattern;
	uint64_t count, nbytes; /* number and bytes of the suppressed blocks */
};

/* Begins as all zeros. */
struct suppressions {
	struct suppression *rows;
	size_t count, cap;
};

/*
 * Add the lines of a file.  If the file cannot be read, if a line is not of the
 * type "leak:", or if there is no memory, print a message and return false.
 */
bool suppressions_read(struct suppressions *s, const char *path);
void suppressions_free(struct suppressions *s);

/* Does the pattern match the text? */
bool suppressions_match(const char *pattern, const char *text);

/*
 * Find the innermost frame of a stack that a suppression matches.  Return the
 * first suppression that matches this frame, or NULL if there is no such frame.
 */
struct suppression *suppressions_find(struct suppressions *s,
				      const struct hatf_stacks *stacks,
				      uint64_t stack);

#endif /* SUPPRESSIONS_H */
