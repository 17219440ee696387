/* SPDX-License-Identifier: MIT */
/*
 * escape.h - escape text from a trace for output
 *
 * Names, command lines and comments in a trace are untrusted.  Printed raw,
 * they could send commands to the terminal.  Each byte of a character that is
 * not printable UTF-8 becomes \xHH: control characters (C0 and C1), invalid
 * sequences, line separators and bidirectional control characters.
 *
 * The functions may be called from any thread.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Upper bound of the bytes that one escape_next() writes. */
#define ESCAPE_MAX_NBYTES 16

/*
 * Take one character, or one invalid byte, from the 'nbytes' (at least 1) bytes
 * at 's' and write it to 'out', escaped if necessary.  With 'quoted' the output
 * is valid between double quotes: '"' and '\' get a backslash, a newline
 * becomes \n.  Return the number of bytes taken from 's'; '*out_nbytes_ret' is
 * the number written.
 */
size_t escape_next(const uint8_t *s, size_t nbytes, bool quoted,
		   char out[ESCAPE_MAX_NBYTES], size_t *out_nbytes_ret);

/*
 * Escape all of 's' into 'out', NUL-terminated and truncated to 'cap' bytes.
 * Return 'out'.
 */
char *escape_text(const char *s, char *out, size_t cap);

/*
 * Find the first character of 's' that escape_text() would escape.  's' must be
 * valid UTF-8.  Return the number of bytes before the character.  Store the
 * character, and its length in bytes; the length is 0 if there is no such
 * character.
 */
size_t escape_find(const char *s, uint32_t *char_ret, size_t *length_ret);

/*
 * Return a copy of 's' that is valid UTF-8: invalid bytes become \xHH.
 * Everything else stays, because a JSON writer escapes control characters
 * itself.  The caller frees the copy.  NULL if out of memory.
 */
char *escape_utf8(const char *s);

#endif /* ESCAPE_H */
