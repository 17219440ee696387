/* SPDX-License-Identifier: MIT */
/*
 * narrate_stacks.h - the call stacks of events as comments (FORMAT "Stacks")
 *
 * The recorder finds stacks in its table by number.  It defines each before the
 * first record of a segment that refers to it, and where a producer puts its
 * definition into a ring.  Recovery has no such table: it defines stacks where
 * the producers put their definitions into the rings, before the events that
 * refer to them (EVENT_STACK_NODE); some of these the trace has already, which
 * FORMAT allows.
 *
 * As narrate.h: one owner, no allocation, lock or system call.
 */
#ifndef NARRATE_STACKS_H
#define NARRATE_STACKS_H

#include "hatf/rings/narrate.h"
#include "hatf/rings/stack_image.h"

/* Words of 64 bits for a bit of each number below 'n'. */
#define NARRATE_STACKS_WORDS(n) ((n) / 64)

struct narrate_stacks {
	/* The recorder's tables; NULL in recovery. */
	const struct stack_image_node *(*node)(uint32_t id);
	const struct stack_image_object *(*object)(uint32_t id);
	bool has_frees; /* frees have stacks, too */
	/* Which numbers the segment defines, bit by bit; not in recovery. */
	uint64_t nodes[NARRATE_STACKS_WORDS(STACK_IMAGE_NODES_MAX)];
	uint64_t frames[NARRATE_STACKS_WORDS(STACK_IMAGE_NODES_MAX)];
	uint64_t objects[NARRATE_STACKS_WORDS(STACK_IMAGE_OBJECTS_MAX)];
	/* Recovery: the object whose text is not complete. */
	struct stack_image_object unnamed;
	uint32_t text_nbytes;
	char text[sizeof(struct stack_image_object)];
	struct stack_column column; /* of the narrator's encoder */
};

/*
 * Give the narrator, after narrate_init() with room, the stacks of its events.
 * '*s' stays the caller's; what the caller does not set is 0.
 */
void narrate_use_stacks(struct narrator *n, struct narrate_stacks *s);

/*
 * Define the stack 'id' and what it takes, unless the segment has done so.  The
 * comments go into the open block; so the caller may have to end it first
 * (narrate_is_full()).
 */
void narrate_define_stack(struct narrator *n, uint32_t id);

/* Narrate an event that defines a stack or an object. */
void narrate_put_definition(struct narrator *n, const struct event *ev);

/* Another segment begins, which defines nothing yet. */
void narrate_forget_stacks(struct narrator *n);

#endif /* NARRATE_STACKS_H */
