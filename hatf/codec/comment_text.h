/* SPDX-License-Identifier: MIT */
/*
 * comment_text.h - build and read the "key=value" lines of our comments
 *
 * A bounded string builder that may run where encoder.h runs (no stdio, no
 * locale), and the inverse.  Lines end in '\n'; in a value, bytes below 0x20,
 * 0x7f and '\\' are written as \xHH (FORMAT "Comments of this project").
 */
#ifndef HATF_TEXT_H
#define HATF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What does not fit is left out and sets 'full'. */
struct text {
	char *buf;
	size_t cap, used; /* bytes; not NUL-terminated */
	bool full;
};

void text_init(struct text *t, char *buf, size_t cap);
void text_bytes(struct text *t, const char *s, size_t nbytes);
void text_str(struct text *t, const char *s);
void text_u64(struct text *t, uint64_t n);
void text_hex(struct text *t, uint64_t n); /* with "0x" */

/* "key=", the value escaped, "\n".  A line is written whole or not at all. */
void text_line(struct text *t, const char *key, const char *value,
	       size_t value_nbytes);
void text_line_u64(struct text *t, const char *key, uint64_t n);
void text_line_hex(struct text *t, const char *key, uint64_t n);

/*
 * Find 'key' in the lines of 'comment' and copy its unescaped value to 'out',
 * NUL-terminated.  Returns the length that the value has, or -1 if there is no
 * such line; nothing is written beyond 'cap' bytes, and a result >= 'cap' says
 * that it was cut.
 */
ptrdiff_t text_find(const char *comment, size_t nbytes, const char *key,
		    char *out, size_t cap);

/* Like text_find(), for a decimal number.  False if absent or malformed. */
bool text_find_u64(const char *comment, size_t nbytes, const char *key,
		   uint64_t *n_ret);

#endif /* HATF_TEXT_H */
