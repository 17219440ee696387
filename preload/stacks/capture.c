/* SPDX-License-Identifier: MIT */
/* capture.c - see capture.h */

#include "preload/stacks/capture.h"

#include <stddef.h>

#include "preload/stacks/code_object.h"
#include "preload/stacks/object_table.h"
#include "preload/stacks/stack_table.h"
#include "preload/sys/memory.h"

/* Constant after capture_init(). */
static uint32_t capture_depth;
static uintptr_t own_begin, own_end; /* the recorder's code */

bool
capture_init(uint32_t depth)
{
	struct code_object own;

	if (!stack_table_init() || !object_table_init())
		return false;
	code_object_init();
	if (!code_object_find((uintptr_t)&capture_init, &own))
		return false;
	own_begin = own.begin;
	own_end = own.end;
	capture_depth = depth;
	return true;
}

size_t
capture_nbytes(void)
{
	return stack_table_nbytes() + object_table_nbytes();
}

struct walk *
capture_make_walk(void)
{
	/*
	 * The child of a handler that forks may return into a walk.  The copy
	 * must have its frames: the walk reads memory at their places.
	 */
	struct walk *const walk = memory_map_forked(sizeof(*walk));

	if (walk != NULL)
		walk->depth = capture_depth;
	return walk;
}

/* The number of a frame that stands for those that are missing, or 0. */
static uint32_t
number_mark(enum stack_mark mark)
{
	uint32_t id = stack_table_find(0, mark);

	if (id != 0)
		return id;
	id = stack_table_claim(0, mark);
	return id != 0 ? stack_table_insert(id) : 0;
}

/* The number of the outermost caller: 0, or a mark if others are missing. */
static uint32_t
number_end(const struct walk *walk)
{
	if (walk->end == WALK_LOST)
		return number_mark(STACK_MARK_LOST);
	if (walk->end == WALK_CUT && walk->depth > 1)
		return number_mark(STACK_MARK_CUT);
	return 0;
}

/* The number of a stack that was not found. */
static __attribute__((noinline)) uint32_t
number_new(uint32_t parent, uintptr_t address)
{
	const uint32_t object = object_table_find(address - 1);
	const uint32_t id =
		stack_table_claim(parent, stack_frame(address, object));

	return id != 0 ? stack_table_insert(id) : parent;
}

uint32_t
capture_stack(struct walk *walk)
{
	const struct walk_context here = walk_here();
	uint32_t node;

	walk_stack(walk, &here, own_begin, own_end);
	node = walk->same_count != 0 ? walk->frame[walk->same_count - 1].node
				     : number_end(walk);
	for (uint32_t i = walk->same_count; i < walk->count; i++) {
		struct walk_frame *const f = &walk->frame[i];
		const uint32_t id = stack_table_find(node, f->address);

		node = id != 0 ? id : number_new(node, f->address);
		f->node = node;
	}
	return node;
}
