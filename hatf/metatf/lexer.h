/* SPDX-License-Identifier: MIT */
/*
 * lexer.h - the words of a Meta-TF DTD
 *
 * Comments are not tokens.  The lexer keeps the text of the comments before a
 * token, so that the parser can attach it to a definition.
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
	const char *text; /* a name, or the content of a string; in the arena */
	struct dtd_number number;
};

/* Comments of the text, and what is between them. */
struct comment_span {
	const char *begin, *end; /* NULL: there are none */
};

struct lexer {
	struct arena *arena;
	struct dtd_error *err;
	const char *next, *end;
	struct dtd_place place;
	struct token token;	      /* the current token */
	unsigned last_line;	      /* on which the token before it ended */
	struct comment_span trailing; /* on that line */
	struct comment_span comment;  /* the others before it */
	bool has_failed;
};

/* Begin.  lexer_step() reads the first token. */
void lexer_init(struct lexer *x, struct arena *arena, const char *text,
		size_t nbytes, struct dtd_error *err);

/* Read the next token.  False: '*err' is set. */
bool lexer_step(struct lexer *x);

/*
 * Copy the comments before the current token, once; or return NULL.  The first
 * of these functions takes only those on the line of the token before.
 */
const char *lexer_take_trailing(struct lexer *x);
const char *lexer_take_comment(struct lexer *x);

/*
 * Record an error at a place, unless there is one already.  Return false.
 */
bool lexer_fail(struct lexer *x, struct dtd_place place, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/* Fail at the current token: "expected WANT, found ...".  Return false. */
bool lexer_expected(struct lexer *x, const char *want);

#endif /* HATF_LEXER_H */
