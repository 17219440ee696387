/* SPDX-License-Identifier: MIT */
/*
 * comment_text.h - build and read "key=value" lines in comments
 *
 * 'struct text' is a bounded string builder; text_find() reads the lines back.
 * The functions keep the rules of encoder.h for code in traced programs (no
 * stdio, no locale).  Lines end in '\n'.  In a value, 0x7f, '\\' and all bytes
 * below 0x20 are written as \xHH (FORMAT "Comments of this project").  The
 * names begin with 'text_', not 'comment_', because the recorder uses these
 * functions for messages and paths, too.
 */
#ifndef HATF_COMMENT_TEXT_H
#define HATF_COMMENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A text in the caller's buffer.  If a part does not fit, the functions omit
 * this part and set 'full'.
 */
struct text {
	char *buf;
	/*
	 * room in 'buf' and length of the text, in bytes; the text is not
	 * NUL-terminated
	 */
	size_t cap, used;
	bool full;
};

/* Start with an empty text in 'buf', a buffer that the caller owns. */
void text_init(struct text *t, char *buf, size_t cap);

/*
 * text_bytes() appends bytes, text_str() appends a string without its NUL, and
 * text_u64() appends a decimal number.  If the addition does not fit, they
 * append nothing.
 */
void text_bytes(struct text *t, const char *s, size_t nbytes);
void text_str(struct text *t, const char *s);
void text_u64(struct text *t, uint64_t n);
/* Append "0x" and the hexadecimal digits of 'n'. */
void text_hex(struct text *t, uint64_t n);

/*
 * Append "key=", the escaped value and "\n".  If the line does not fit, append
 * nothing.
 */
void text_line(struct text *t, const char *key, const char *value,
	       size_t value_nbytes);
void text_line_u64(struct text *t, const char *key, uint64_t n);
void text_line_hex(struct text *t, const char *key, uint64_t n);

/*
 * Find the first line "key=value" in 'comment'.  Copy the unescaped value, with
 * a NUL at its end, to 'out' (of 'cap' bytes).  Return the length of the
 * unescaped value, or -1 if there is no such line.  If the result is >= 'cap',
 * the copy is truncated.
 */
ptrdiff_t text_find(const char *comment, size_t nbytes, const char *key,
		    char *out, size_t cap);

/*
 * Like text_find(), but for a decimal number.  Return false if the line is
 * absent, or its value is malformed, above UINT64_MAX or longer than 31 digits.
 */
bool text_find_u64(const char *comment, size_t nbytes, const char *key,
		   uint64_t *n_ret);

#endif /* HATF_COMMENT_TEXT_H */
