/* SPDX-License-Identifier: MIT */
/*
 * escape.h - make text from a trace safe to show
 *
 * Names, command lines and comments in a trace are untrusted: shown as they are
 * they could steer a terminal.  What is not printable UTF-8 (control characters
 * of both ranges, invalid sequences, line separators and the marks that turn
 * the direction of writing) becomes \xHH, byte by byte.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that escape_next() writes. */
#define ESCAPE_MAX_NBYTES 16

/*
 * Take one character from the 'nbytes' (at least 1) bytes at 's' and write it,
 * or what stands for it, to 'out'.  With 'quoted' the result can stand between
 * double quotes: '"' and '\' get a backslash, a line end becomes \n.  Returns
 * the number of bytes taken.
 */
size_t escape_next(const uint8_t *s, size_t nbytes, bool quoted,
		   char out[ESCAPE_MAX_NBYTES], size_t *out_nbytes_ret);

/* All of 's' into 'out', NUL-terminated and cut to 'cap' bytes; returns 'out'. */
char *escape_text(const char *s, char *out, size_t cap);

/*
 * The number of bytes of 's', which is valid UTF-8, in front of the first
 * character that escape_text() would not show; that one and its length, 0 at
 * the end.
 */
size_t escape_find(const char *s, uint32_t *char_ret, size_t *length_ret);

/*
 * A copy of 's' that is valid UTF-8: invalid bytes become \xHH, all else stays
 * (a JSON writer escapes control characters on its own).  To be freed by the
 * caller; NULL without memory.
 */
char *escape_utf8(const char *s);

#endif /* ESCAPE_H */
