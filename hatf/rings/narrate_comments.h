/* SPDX-License-Identifier: MIT */
/*
 * narrate_comments.h - write the comments of a narrator
 *
 * This header is internal to narrate.c, narrate_comments.c and
 * narrate_stacks.c.  The rules of narrate.h hold for the functions of this
 * header.  The three files are one module and call each other, because a
 * comment needs an open block and the time of its stamp, and a record may need
 * a comment first.
 */
#ifndef NARRATE_COMMENTS_H
#define NARRATE_COMMENTS_H

#include "hatf/codec/comment_text.h"
#include "hatf/rings/narrate.h"

/* Put a comment with this text into the block; open a block if none is open. */
void narrate_put_comment(struct narrator *n, const struct text *text);

/*
 * Put the clock comment 'name', which says how the events after it get their
 * times.
 */
void narrate_put_clock(struct narrator *n, const char *name);

/*
 * Put the comment of an EVENT_FORK.  For an EVENT_REALLOC_BEGIN, put the
 * comment of a realloc that was in progress during a fork.
 */
void narrate_put_fork(struct narrator *n, const struct order_producer *producer,
		      const struct event *ev);

/*
 * Append the piece 'ev' of a text to n->pieces.  If 'ev' is the last piece, put
 * the comment with the whole text.
 */
void narrate_put_piece(struct narrator *n,
		       const struct order_producer *producer,
		       const struct event *ev);

#endif /* NARRATE_COMMENTS_H */
