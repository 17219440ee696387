/* SPDX-License-Identifier: MIT */
/* lexer.c - see lexer.h */
#include "hatf/metatf/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_NAME_NBYTES	  255
#define MAX_STRING_NBYTES 4096

void
lexer_init(struct lexer *x, struct arena *arena, const char *text,
	   size_t nbytes, struct dtd_error *err)
{
	*x = (struct lexer){
		.arena = arena,
		.err = err,
		.next = text,
		.end = text + nbytes,
		.place = { 1, 1 },
	};
}

bool
lexer_fail(struct lexer *x, struct dtd_place place, const char *format, ...)
{
	va_list args;

	if (x->has_failed)
		return false;
	x->has_failed = true;
	x->err->place = place;
	va_start(args, format);
	vsnprintf(x->err->text, sizeof(x->err->text), format, args);
	va_end(args);
	return false;
}

bool
lexer_expected(struct lexer *x, const char *want)
{
	const struct token *const t = &x->token;

	switch (t->kind) {
	case TOKEN_END:
		return lexer_fail(x, t->place,
				  "expected %s, found the end of the DTD",
				  want);
	case TOKEN_NAME:
		return lexer_fail(x, t->place, "expected %s, found '%.60s'",
				  want, t->text);
	case TOKEN_NUMBER:
		return lexer_fail(x, t->place, "expected %s, found a number",
				  want);
	case TOKEN_STRING:
		return lexer_fail(x, t->place, "expected %s, found a string",
				  want);
	default:
		return lexer_fail(x, t->place, "expected %s, found '%c'", want,
				  t->mark);
	}
}

/* --------------------------------------------------------------- characters */

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return the byte 'ahead' bytes after 'x->next', or NUL after the end. */
static char
peek(const struct lexer *x, size_t ahead)
{
	if (ahead >= (size_t)(x->end - x->next))
		return '\0';
	return x->next[ahead];
}

static void
advance(struct lexer *x, size_t nbytes)
{
	for (; nbytes != 0; nbytes--) {
		x->place.column++;
		if (*x->next++ == '\n') {
			x->place.line++;
			x->place.column = 1;
		}
	}
}

/* ----------------------------------------------------------------- comments */

/*
 * Add a comment to 'x->trailing' or 'x->comment'.  The comment begins at
 * 'begin', in line 'line', and ends at 'x->next'.  First drop older comments
 * that a token separates from this comment, because a span that contains both
 * comments would also contain the token.
 */
static void
note_comment(struct lexer *x, const char *begin, unsigned line)
{
	struct comment_span *span;

	if (x->comment.begin < x->last_end)
		x->comment = (struct comment_span){ 0 };
	if (x->trailing.begin < x->last_end)
		x->trailing = (struct comment_span){ 0 };
	span = line == x->last_line && x->comment.begin == NULL ? &x->trailing
								: &x->comment;

	if (span->begin == NULL)
		span->begin = begin;
	span->end = x->next;
}

/*
 * Copy the comments of a span, and empty the span.  Control characters except
 * newlines become blanks, so that a DTD can be printed on a terminal.
 */
static const char *
copy_comment(struct lexer *x, struct comment_span *span)
{
	const size_t nbytes = (size_t)(span->end - span->begin);
	char *copy;

	if (span->begin == NULL)
		return NULL;
	copy = arena_text(x->arena, span->begin, nbytes);
	*span = (struct comment_span){ 0 };
	if (copy == NULL) {
		lexer_fail(x, x->place, "no memory");
		return NULL;
	}
	for (size_t i = 0; i < nbytes; i++) {
		const unsigned char c = (unsigned char)copy[i];

		if ((c < ' ' && c != '\n') || c == 0x7f)
			copy[i] = ' ';
	}
	return copy;
}

const char *
lexer_take_comment(struct lexer *x)
{
	if (x->trailing.begin != NULL) {
		if (x->comment.begin == NULL)
			x->comment.end = x->trailing.end;
		x->comment.begin = x->trailing.begin;
		x->trailing = (struct comment_span){ 0 };
	}
	return copy_comment(x, &x->comment);
}

const char *
lexer_take_trailing(struct lexer *x)
{
	return copy_comment(x, &x->trailing);
}

/* Read a comment from "//" to the end of the line. */
static void
skip_line(struct lexer *x)
{
	const char *const begin = x->next;
	const unsigned line = x->place.line;
	const char *const newline =
		memchr(begin, '\n', (size_t)(x->end - begin));
	const char *end = newline != NULL ? newline : x->end;

	while (end > begin && end[-1] == '\r')
		end--;
	advance(x, (size_t)(end - begin));
	note_comment(x, begin, line);
}

/* Read a comment from slash-star to star-slash. */
static bool
skip_block(struct lexer *x)
{
	const struct dtd_place place = x->place;
	const char *const begin = x->next;

	advance(x, 2);
	while (peek(x, 0) != '*' || peek(x, 1) != '/') {
		if (x->next == x->end)
			return lexer_fail(x, place,
					  "this comment has no end: expected "
					  "'*/'");
		advance(x, 1);
	}
	advance(x, 2);
	note_comment(x, begin, place.line);
	return true;
}

/* Skip blanks and comments. */
static bool
skip_blanks(struct lexer *x)
{
	for (;;) {
		const char c = peek(x, 0);

		if (c == ' ' || c == '\t' || c == '\r' || c == '\n' ||
		    c == '\f')
			advance(x, 1);
		else if (c == '/' && peek(x, 1) == '/')
			skip_line(x);
		else if (c != '/' || peek(x, 1) != '*')
			return true;
		else if (!skip_block(x))
			return false;
	}
}

/* ------------------------------------------------------------------- tokens */

static bool
read_name(struct lexer *x)
{
	size_t nbytes = 1;

	while (is_letter(peek(x, nbytes)) || is_digit(peek(x, nbytes)))
		nbytes++;
	if (nbytes > MAX_NAME_NBYTES)
		return lexer_fail(x, x->place,
				  "this name is longer than %d bytes",
				  MAX_NAME_NBYTES);
	x->token.kind = TOKEN_NAME;
	x->token.text = arena_text(x->arena, x->next, nbytes);
	advance(x, nbytes);
	return x->token.text != NULL || lexer_fail(x, x->place, "no memory");
}

/* Return the value of a digit in a base, or -1. */
static int
digit_value(char c, bool is_hex)
{
	if (is_digit(c))
		return c - '0';
	if (is_hex && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (is_hex && c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool
read_number(struct lexer *x)
{
	struct dtd_number *const n = &x->token.number;
	uint64_t value = 0;
	int digit;

	*n = (struct dtd_number){ .is_negative = peek(x, 0) == '-' };
	advance(x, n->is_negative ? 1 : 0);
	n->is_hex = peek(x, 0) == '0' && (peek(x, 1) == 'x');
	advance(x, n->is_hex ? 2 : 0);
	if (digit_value(peek(x, 0), n->is_hex) < 0)
		return lexer_fail(x, x->place, "expected a digit");
	while ((digit = digit_value(peek(x, 0), n->is_hex)) >= 0) {
		if (__builtin_mul_overflow(value, n->is_hex ? 16u : 10u,
					   &value) ||
		    __builtin_add_overflow(value, (unsigned)digit, &value))
			return lexer_fail(x, x->token.place,
					  "this number exceeds 64 bits");
		advance(x, 1);
	}
	if (is_letter(peek(x, 0)))
		return lexer_fail(x, x->place,
				  "expected a digit or the end of a number");
	if (n->is_negative && value > (uint64_t)1 << 63)
		return lexer_fail(x, x->token.place,
				  "this number exceeds 64 bits");
	n->value = n->is_negative ? 0 - value : value;
	x->token.kind = TOKEN_NUMBER;
	return true;
}

/* Read a string in double quotes; a backslash quotes the next byte. */
static bool
read_string(struct lexer *x)
{
	char text[MAX_STRING_NBYTES];
	size_t nbytes = 0;

	advance(x, 1);
	while (peek(x, 0) != '"') {
		if (peek(x, 0) == '\\')
			advance(x, 1);
		if (x->next == x->end || (unsigned char)*x->next < ' ')
			return lexer_fail(x, x->token.place,
					  "this string has no end: expected "
					  "'\"'");
		if (nbytes == sizeof(text))
			return lexer_fail(x, x->token.place,
					  "this string is longer than %d bytes",
					  MAX_STRING_NBYTES);
		text[nbytes++] = *x->next;
		advance(x, 1);
	}
	advance(x, 1);
	x->token.kind = TOKEN_STRING;
	x->token.text = arena_text(x->arena, text, nbytes);
	return x->token.text != NULL || lexer_fail(x, x->place, "no memory");
}

bool
lexer_step(struct lexer *x)
{
	char c;

	x->last_line = x->place.line;
	x->last_end = x->next;
	if (x->has_failed || !skip_blanks(x))
		return false;
	x->token = (struct token){ .kind = TOKEN_END, .place = x->place };
	if (x->next == x->end)
		return true;
	c = peek(x, 0);
	if (is_letter(c))
		return read_name(x);
	if (is_digit(c) || c == '-')
		return read_number(x);
	if (c == '"')
		return read_string(x);
	if (c == '\0' || strchr(":;,.=*(){}", c) == NULL)
		return lexer_fail(
			x, x->place,
			c > ' ' && c < 0x7f
				? "'%c' may stand only in a string or "
				  "comment"
				: "the byte 0x%02x may stand only in a "
				  "string or comment",
			(unsigned char)c);
	x->token.kind = TOKEN_MARK;
	x->token.mark = c;
	advance(x, 1);
	return true;
}
