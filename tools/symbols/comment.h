/* SPDX-License-Identifier: MIT */
/*
 * comment.h - the lines of our own comments (FORMAT "Comments of this project")
 */
#ifndef COMMENT_H
#define COMMENT_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is the record a comment of this kind ("HATF frame\n")? */
bool comment_is(const struct hatf_record *rec, const char *kind);

/*
 * Store the value of 'key' in 'buf', unescaped, NUL-terminated and truncated to
 * 'cap' bytes including the NUL.  Return the length of the text in 'buf', or -1
 * if there is no line "key=...".
 */
long comment_value(const struct hatf_record *rec, const char *key, char *buf,
		   size_t cap);

/*
 * Return the value of 'key' as a number, which may be decimal or hexadecimal
 * with 0x; 0 if there is none.
 */
uint64_t comment_number(const struct hatf_record *rec, const char *key);

/* A comment that is being written. */
struct comment {
	size_t used;
	bool is_full; /* the line that is being written does not fit */
	char text[HATF_DEFINITION_MAX];
};

/*
 * Begin a comment of a kind ("HATF frame\n").  The functions comment_put...()
 * append a line "key=value"; they leave out a line that does not fit.
 */
void comment_begin(struct comment *c, const char *kind);
void comment_put(struct comment *c, const char *key, const char *value);
void comment_put_number(struct comment *c, const char *key, uint64_t n);
void comment_put_address(struct comment *c, const char *key, uint64_t n);

/* Return the comment as a record, valid until 'c' changes. */
struct hatf_record comment_record(const struct comment *c);

#endif /* COMMENT_H */
