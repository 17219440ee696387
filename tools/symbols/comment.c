/* SPDX-License-Identifier: MIT */
/* comment.c - see comment.h */
#include "tools/symbols/comment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
comment_is(const struct hatf_record *rec, const char *kind)
{
	const size_t nbytes = strlen(kind);

	return rec->tag == HATF_COMMENT && rec->attributes_nbytes >= nbytes &&
	       memcmp(rec->attributes, kind, nbytes) == 0;
}

/*
 * Store the value of a hexadecimal digit.  Return false if 'c' is not such a
 * digit.
 */
static bool
hex_digit(char c, unsigned *digit_ret)
{
	if (c >= '0' && c <= '9')
		*digit_ret = (unsigned)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*digit_ret = (unsigned)(c - 'a') + 10;
	else if (c >= 'A' && c <= 'F')
		*digit_ret = (unsigned)(c - 'A') + 10;
	else
		return false;
	return true;
}

/* Take the next byte of a value, and undo its escape if it has one. */
static char
take_byte(const char **next, const char *end)
{
	const char *const p = *next;
	unsigned high, low;

	if (end - p >= 4 && p[0] == '\\' && p[1] == 'x' &&
	    hex_digit(p[2], &high) && hex_digit(p[3], &low)) {
		*next = p + 4;
		return (char)(high << 4 | low);
	}
	*next = p + 1;
	return *p;
}

long
comment_value(const struct hatf_record *rec, const char *key, char *buf,
	      size_t cap)
{
	const char *next = (const char *)rec->attributes;
	const char *const end = next + rec->attributes_nbytes;
	const size_t key_nbytes = strlen(key);
	size_t used = 0;

	while (next < end) {
		const char *line_end = memchr(next, '\n', (size_t)(end - next));

		if (line_end == NULL)
			line_end = end;
		if ((size_t)(line_end - next) > key_nbytes &&
		    memcmp(next, key, key_nbytes) == 0 &&
		    next[key_nbytes] == '=') {
			next += key_nbytes + 1;
			while (next < line_end && used + 1 < cap)
				buf[used++] = take_byte(&next, line_end);
			buf[used] = '\0';
			return (long)used;
		}
		next = line_end + 1;
	}
	return -1;
}

uint64_t
comment_number(const struct hatf_record *rec, const char *key)
{
	char digits[32];

	return comment_value(rec, key, digits, sizeof(digits)) < 0
		       ? 0
		       : strtoull(digits, NULL,
				  digits[0] == '0' && digits[1] == 'x' ? 16
								       : 10);
}

static void
append(struct comment *c, const char *bytes, size_t nbytes)
{
	if (nbytes > sizeof(c->text) - c->used) {
		c->is_full = true;
		return;
	}
	memcpy(c->text + c->used, bytes, nbytes);
	c->used += nbytes;
}

void
comment_begin(struct comment *c, const char *kind)
{
	c->used = 0;
	c->is_full = false;
	append(c, kind, strlen(kind));
}

void
comment_put(struct comment *c, const char *key, const char *value)
{
	const size_t before = c->used;

	append(c, key, strlen(key));
	append(c, "=", 1);
	for (const char *p = value; *p != '\0'; p++) {
		const unsigned char byte = (unsigned char)*p;
		char escaped[5];

		if (byte >= 0x20 && byte != 0x7f && byte != '\\') {
			append(c, p, 1);
			continue;
		}
		snprintf(escaped, sizeof(escaped), "\\x%02x", byte);
		append(c, escaped, 4);
	}
	append(c, "\n", 1);
	/* If the line does not fit, remove the part that was appended. */
	if (c->is_full)
		c->used = before;
	c->is_full = false;
}

void
comment_put_number(struct comment *c, const char *key, uint64_t n)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	comment_put(c, key, digits);
}

void
comment_put_address(struct comment *c, const char *key, uint64_t n)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "0x%" PRIx64, n);
	comment_put(c, key, digits);
}

struct hatf_record
comment_record(const struct comment *c)
{
	return (struct hatf_record){
		.tag = HATF_COMMENT,
		.attributes = (const uint8_t *)c->text,
		.attributes_nbytes = (uint32_t)c->used,
	};
}
