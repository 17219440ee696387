/* SPDX-License-Identifier: MIT */
/*
 * record_steps.h - the steps of a recording, for record.c and record_stacks.c
 *
 * Between record_enter() and record_leave() the ring is closed to handlers.
 */
#ifndef RECORD_STEPS_H
#define RECORD_STEPS_H

#include "preload/record/record.h"
#include "preload/record/record_order.h"

/*
 * Find the ring to record into and close it to signal handlers.  Return NULL if
 * there is none: nothing is traced, the recorder itself makes the call, or
 * there is no memory (counted).
 */
struct thread *record_enter(void);

/* Publish what was put into the ring, up to 'head', and open it. */
void record_leave(struct thread *t, uint64_t head);

/*
 * Put an event into the ring of 't', which is closed.  Return the new head, or
 * the old one if the event was dropped.
 */
uint64_t record_put_event(struct thread *t, enum event_type type,
			  unsigned flags, const uint64_t *operand);

/* Like record_put_event(), for an event about this block. */
uint64_t record_put_block(struct thread *t, enum event_type type,
			  unsigned flags, const uint64_t *operand,
			  const struct record_block *block);

/*
 * Sleep until 'words' more words fit.  False: the writer has ended, or there is
 * none and this process cannot make it (counted).
 */
bool record_await_room(struct thread *t, unsigned words);

/*
 * If an event of this type has a call stack: capture the stack and announce it
 * in the ring of 't', which is closed, with the definitions that the ring
 * needs.  Does nothing unless stacks are recorded.
 */
void record_note_stack(struct thread *t, enum event_type type);

/* Record an alloc with its stack; a free, which has one if that is wanted. */
void record_stacked_alloc(const void *p, size_t size, unsigned flags);
void record_stacked_free(const struct record_block *block);

#endif /* RECORD_STEPS_H */
