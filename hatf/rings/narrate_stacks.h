/* SPDX-License-Identifier: MIT */
/*
 * narrate_stacks.h - the call stacks of events as comments (FORMAT "Stacks")
 *
 * A definition is a comment that says what a stack's number means.  The
 * recorder has a table of stacks.  The recorder defines a stack once in each
 * segment: before the first record that refers to the stack, or at an
 * EVENT_STACK_NODE of the stack in a ring, whichever comes first.  Recovery
 * has no such table, so it writes every definition that it finds in the rings.
 * The trace may then define a stack twice, which FORMAT allows.
 *
 * As with a narrator (narrate.h), each struct narrate_stacks has one owner, and
 * no function here allocates, locks or makes a system call.
 */
#ifndef NARRATE_STACKS_H
#define NARRATE_STACKS_H

#include "hatf/rings/narrate.h"
#include "hatf/rings/stack_image.h"

/* How many 64-bit words hold 'n' bits; 'n' must be a multiple of 64. */
#define NARRATE_STACKS_WORDS(n) ((n) / 64)

struct narrate_stacks {
	/*
	 * Functions that find a stack or an object in the recorder's tables.
	 * NULL in recovery, which has no tables.
	 */
	const struct stack_image_node *(*node)(uint32_t id);
	const struct stack_image_object *(*object)(uint32_t id);
	bool has_frees; /* frees have stacks, too */
	/*
	 * One bit for each stack, frame and object, by its number.  The bit is
	 * set if the segment has a definition of the stack, frame or object.
	 * Not used in recovery.
	 */
	uint64_t nodes[NARRATE_STACKS_WORDS(STACK_IMAGE_NODES_MAX)];
	uint64_t frames[NARRATE_STACKS_WORDS(STACK_IMAGE_NODES_MAX)];
	uint64_t objects[NARRATE_STACKS_WORDS(STACK_IMAGE_OBJECTS_MAX)];
	/* Used by recovery: the newest object, until its text is complete. */
	struct stack_image_object unnamed;
	uint32_t text_nbytes;
	char text[sizeof(struct stack_image_object)];
	/* column of stacks for the narrator's encoder (stack_column.h) */
	struct stack_column column;
};

/*
 * Let the narrator write the stacks of its events.  The narrator must have been
 * initialized with room for stacks (narrate_init()).  '*s' stays the caller's;
 * members that the caller does not set must be 0.
 */
void narrate_use_stacks(struct narrator *n, struct narrate_stacks *s);

/*
 * Define the stack 'id', its callers, and their frames and objects, except what
 * the segment has defined already.  The comments go into the open block, so the
 * caller may have to end the block first (narrate_is_full()).  In recovery, do
 * nothing.
 */
void narrate_define_stack(struct narrator *n, uint32_t id);

/*
 * May a record refer to the stack 'id' without a new definition?  Return true
 * if the segment already has a definition of the stack, if 'id' is 0, and
 * always in recovery.
 */
bool narrate_is_defined(const struct narrate_stacks *s, uint32_t id);

/* Narrate an event that defines a stack or an object. */
void narrate_put_definition(struct narrator *n, const struct event *ev);

/*
 * Forget which stacks are defined, because another segment begins or a block
 * with definitions was discarded.
 */
void narrate_forget_stacks(struct narrator *n);

#endif /* NARRATE_STACKS_H */
