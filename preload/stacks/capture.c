/* SPDX-License-Identifier: MIT */
/* capture.c - see capture.h */

#include "preload/stacks/capture.h"

#include <stddef.h>

#include "preload/stacks/code_object.h"
#include "preload/stacks/object_table.h"
#include "preload/stacks/stack_memo.h"
#include "preload/stacks/stack_table.h"
#include "preload/stacks/walk.h"
#include "preload/sys/memory.h"

struct capture {
	struct walk walk;
	struct stack_memo *memo;
};

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

struct capture *
capture_make(void)
{
	/*
	 * The child of a handler that forks may return into a walk.  The copy
	 * must have its frames: the walk reads memory at their places.  Numbers
	 * of the parent must not be found there.
	 */
	struct capture *const c = memory_map_forked(sizeof(*c));

	if (c == NULL)
		return NULL;
	c->memo = memory_map_wiped(sizeof(*c->memo));
	if (c->memo == NULL)
		return NULL;
	c->walk.depth = capture_depth;
	return c;
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

/*
 * Find or make the numbers of all frames of a stack, from the innermost one on
 * that is known already.
 */
static __attribute__((noinline)) uint32_t
number_frames(struct capture *c, uint32_t epoch)
{
	struct walk_frame *const frame = c->walk.frame;
	uint32_t i = c->walk.count, node = 0;

	while (i > 0 && node == 0) {
		i--;
		if (frame[i].node == 0)
			frame[i].node =
				stack_memo_find(c->memo, frame[i].key, epoch);
		node = frame[i].node;
	}
	if (node != 0)
		i++;
	else
		node = number_end(&c->walk);
	for (; i < c->walk.count; i++) {
		const uintptr_t address = c->walk.place[i].address;
		const uint32_t id = stack_table_find(node, address);

		node = id != 0 ? id : number_new(node, address);
		frame[i].node = node;
		stack_memo_put(c->memo, frame[i].key, epoch, node);
	}
	return node;
}

uint32_t
capture_stack(struct capture *c)
{
	const struct walk_context here = walk_here();
	const uint32_t epoch = stack_table_epoch();
	struct walk *const walk = &c->walk;
	struct walk_frame *top;

	walk_stack(walk, &here, own_begin, own_end);
	if (walk->count == 0)
		return number_end(walk);
	top = &walk->frame[walk->count - 1];
	if (top->node == 0)
		top->node = stack_memo_find(c->memo, top->key, epoch);
	return top->node != 0 ? top->node : number_frames(c, epoch);
}
