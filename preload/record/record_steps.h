/* SPDX-License-Identifier: MIT */
/*
 * record_steps.h - the steps of a recording, for record.c and record_stacks.c
 *
 * Between record_enter() and record_leave() the ring is closed to signal
 * handlers.
 */
#ifndef RECORD_STEPS_H
#define RECORD_STEPS_H

#include "preload/record/record.h"
#include "preload/record/record_order.h"

/*
 * Find the ring to record into and close it to signal handlers.  Return NULL if
 * nothing is recorded now, or if the recorder itself makes the call.  If there
 * is no memory, if there are too many threads, or if too many handlers have
 * interrupted recordings of this thread, count the event as lost and return
 * NULL.
 */
struct thread *record_enter(void);

/* Like record_enter(), but inline in the usual case. */
static inline __attribute__((always_inline)) struct thread *
record_enter_fast(void)
{
	struct thread *const t = thread_self;

	if (__builtin_expect(t->limit == 0, 0))
		return record_enter();
	t->limit = 0;
	atomic_signal_fence(memory_order_seq_cst);
	return t;
}

/* Publish the words of the ring before 'head', and open the ring. */
static inline void
record_leave(struct thread *t, uint64_t head)
{
	t->head = head;
	ring_publish(t->ring, head);
	atomic_signal_fence(memory_order_seq_cst);

	const uint64_t limit = ring_limit(t->ring);

	t->mask = (uint32_t)ring_mask(t->ring);
	record_open(t, limit);
}

/* Room for a tick and a report of loss, which may precede an event. */
#define RECORD_PRELUDE_WORDS (2u + 4u)

/*
 * Put an event into the ring of 't', which is closed.  Return the new head, or
 * the old one if the event was dropped.
 */
uint64_t record_put_event(struct thread *t, enum event_type type,
			  unsigned flags, const uint64_t *operand);

/* Like record_put_event(), for an event that concerns the block '*block'. */
uint64_t record_put_block(struct thread *t, enum event_type type,
			  unsigned flags, const uint64_t *operand,
			  const struct record_block *block);

/*
 * Put an EVENT_REALLOC_END with these operands into the ring of 't', which is
 * closed, without publishing it.  Return false if its stamp needs a fence
 * (record_omits_fence()), or if there is no room.
 */
bool record_put_unfenced_end(struct thread *t, unsigned flags,
			     const uint64_t *operand);

/*
 * Return true if the last tick in the ring is recent enough (CLOCK_BRIEF), so
 * that an event that follows needs no stamp.  If the last tick is too old, put
 * a new brief tick into the ring, which takes RECORD_TICK_WORDS, and return
 * true.  But if only stamps can order the events, or if a new tick needs the
 * writer (wake_is_wanted()), put no tick and return false.  Call this while the
 * clock is idle.
 */
bool record_have_brief_tick(struct thread *t);
/* Like record_have_brief_tick(), but never put a tick. */
bool record_has_brief_tick(const struct thread *t);
#define RECORD_TICK_WORDS 2u

/*
 * Put a text of at most EVENT_TEXT_NBYTES bytes into the ring of 't', which is
 * closed.  The pieces of the text follow each other without other events
 * between them.  Return the same as record_put_event().
 */
uint64_t record_put_text(struct thread *t, enum event_type type, unsigned flags,
			 const char *text, size_t nbytes);

/*
 * Sleep until the ring has room for 'words' more words.  Return false if the
 * trace has ended.  In a child that shares its parent's memory and therefore
 * cannot make a writer, do not wait for a missing writer: extend the ring, or,
 * if the ring cannot grow, count the event as lost and return false.
 */
bool record_await_room(struct thread *t, unsigned words);

/*
 * Make room for 'words' words, for an event of this type.  Return false if the
 * event must be dropped, either because the ring is full and HATFTRACE_FULL is
 * "drop", or because record_await_room() has returned false.
 */
bool record_make_room(struct thread *t, enum event_type type, unsigned words);

/*
 * Do nothing if no stacks are recorded, or if events of this type have none.
 * Otherwise capture the call stack.  If the trace lacks the definition of the
 * stack, put the definition into the ring of 't', which is closed.  Then put
 * the number of the stack.  Return false if the number could not be put.  The
 * caller must then drop the event, because otherwise the event would get the
 * stack of the event before it.
 */
bool record_note_stack(struct thread *t, enum event_type type);

/* Record an allocation with its stack.  Return 'p'. */
void *record_stacked_alloc(void *p, size_t size, unsigned flags);
/* Record a free with its stack. */
void record_stacked_free(const struct record_block *block);

/*
 * Try to record the begin event of a realloc of 'old', which is not NULL, with
 * its stack.  If the result is true, the ring stays closed and has room for the
 * end event.  If the result is false, the event was not recorded, and the ring
 * is open or closed as before.  The number of the stack may be in the ring
 * nevertheless.
 */
bool record_stacked_realloc_begin(struct thread *t, const void *old);

#endif /* RECORD_STEPS_H */
