/* SPDX-License-Identifier: MIT */
/*
 * lexer.h - split the text of a Meta-TF DTD into tokens
 *
 * Comments are not tokens.  The lexer keeps the text of the comments before a
 * token, so that the parser can attach this text to a definition.
 */
#ifndef HATF_LEXER_H
#define HATF_LEXER_H

#include "hatf/metatf/arena.h"
#include "hatf/metatf/dtd.h"

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_MARK, /* one of : ; , . = * ( ) { } */
};

struct token {
	enum token_kind kind;
	struct dtd_place place;
	char mark;
	/* A name, or the content of a string, in memory of the arena. */
	const char *text;
	struct dtd_number number;
};

/* A range of the text: comments, and the blanks between them. */
struct comment_span {
	const char *begin, *end; /* NULL if there are no comments */
};

struct lexer {
	struct arena *arena;
	struct dtd_error *err;
	const char *next, *end;
	struct dtd_place place;
	struct token token; /* the current token */
	/* line and address at which the previous token ended */
	unsigned last_line;
	const char *last_end;
	/* the comments that lexer_take_trailing() returns */
	struct comment_span trailing;
	/* the other comments of that group (see lexer_take_comment()) */
	struct comment_span comment;
	bool has_failed;
};

/* Begin with 'text'.  The first lexer_step() reads the first token. */
void lexer_init(struct lexer *x, struct arena *arena, const char *text,
		size_t nbytes, struct dtd_error *err);

/*
 * Read the next token.  On failure, return false; the '*err' that was given to
 * lexer_init() then describes the first failure.
 */
bool lexer_step(struct lexer *x);

/*
 * A group is one or more comments with no token between them.  The lexer keeps
 * the group that it has read most recently, even after it has read more tokens.
 * lexer_take_comment() returns a copy of this group.  lexer_take_trailing()
 * returns a copy of only those comments of the group that begin on the line on
 * which the token before the group ends.  Neither function returns a comment a
 * second time.  Both functions return NULL if no such comment is left.  If
 * there is no memory for the copy, they record an error as lexer_fail() does,
 * and return NULL.
 */
const char *lexer_take_comment(struct lexer *x);
const char *lexer_take_trailing(struct lexer *x);

/*
 * Record an error at a place, unless an error has been recorded already.
 * Return false.
 */
bool lexer_fail(struct lexer *x, struct dtd_place place, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/* Fail at the current token: "expected WANT, found ...".  Return false. */
bool lexer_expected(struct lexer *x, const char *want);

#endif /* HATF_LEXER_H */
