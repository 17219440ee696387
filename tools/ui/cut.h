/* SPDX-License-Identifier: MIT */
/*
 * cut.h - shorten long texts, but not inside a UTF-8 character
 *
 * A struct cut collects a text piece by piece.  If the text is too long, the
 * cut keeps the start and the end of the text, because the name of a site ends
 * with the last part of a function, the file and the line.  Between the two is
 * a hash of the whole text: "start...0123456789abcdef...end".  So texts that
 * differ only in the middle stay different, and a text is cut in the same way
 * each time.
 *
 * Any thread may call the functions; only one at a time may use a cut.
 */
#ifndef CUT_H
#define CUT_H

#include <stddef.h>
#include <stdint.h>

/* Minimum size of the buffer of a cut. */
#define CUT_NBYTES_MIN 64

/* Only cut.c changes the members. */
struct cut {
	char *buf;
	size_t cap;
	size_t nbytes; /* length of the text so far */
	uint64_t hash; /* hash of the text so far */
};

/* Begin an empty text in 'buf', which has 'cap' bytes. */
void cut_begin(struct cut *c, char *buf, size_t cap);

/* Append bytes.  cut_escaped() escapes them first, as escape_text() does. */
void cut_bytes(struct cut *c, const char *bytes, size_t nbytes);
void cut_escaped(struct cut *c, const char *text, size_t nbytes);

/* End the text with a NUL, and shorten it if it is too long.  Return 'buf'. */
char *cut_end(struct cut *c);

/*
 * If a character begins at text[at], return 'at'.  If text[at] is inside a
 * character, cut_before() returns the index at which this character begins, and
 * cut_after() the index at which the next one begins.  If the text is not
 * UTF-8, the result is at most 3 bytes from 'at'.
 */
size_t cut_before(const char *text, size_t at);
size_t cut_after(const char *text, size_t at);

#endif /* CUT_H */
