/* SPDX-License-Identifier: MIT */
/*
 * narrate_comments.h - the comments that a narrator puts
 *
 * Internal to narrate.c, narrate_comments.c and narrate_stacks.c, and under the
 * rules of narrate.h.  The files are one module and call each other: a comment
 * needs an open block and the time of its stamp, and a record may need a
 * comment first.
 */
#ifndef NARRATE_COMMENTS_H
#define NARRATE_COMMENTS_H

#include "hatf/codec/comment_text.h"
#include "hatf/rings/narrate.h"

/* Put a comment with this text into the block, which is opened if need be. */
void narrate_put_comment(struct narrator *n, const struct text *text);

/* Put the comment that says how times are taken from here on. */
void narrate_put_clock(struct narrator *n, const char *name);

/*
 * Put the comment of an EVENT_FORK; or that of an EVENT_REALLOC_BEGIN, a
 * realloc that was in progress during a fork.
 */
void narrate_put_fork(struct narrator *n, const struct order_producer *producer,
		      const struct event *ev);

/* Add a piece to the mark, and put its comment if the piece is the last. */
void narrate_put_mark(struct narrator *n, const struct order_producer *producer,
		      const struct event *ev);

/*
 * Return the time of a stamp for a comment: at least that of the last record.
 * Unlike the time of a record it leaves n->time as it is: a comment about a
 * later moment must not make the times of the next records late.
 */
uint64_t narrate_time_at(const struct narrator *n, uint64_t stamp);

#endif /* NARRATE_COMMENTS_H */
