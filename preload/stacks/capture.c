/* SPDX-License-Identifier: MIT */
/* capture.c - see capture.h */

#include "preload/stacks/capture.h"

#include <stddef.h>

#include "preload/stacks/code_object.h"
#include "preload/stacks/object_table.h"
#include "preload/stacks/path_cache.h"
#include "preload/stacks/stack_key.h"
#include "preload/stacks/stack_memo.h"
#include "preload/stacks/stack_memory.h"
#include "preload/stacks/stack_table.h"
#include "preload/stacks/walk.h"
#include "preload/sys/memory.h"

struct capture {
	struct walk walk;
	struct stack_memo *memo;
	struct path_cache *paths;
};

/* Constant after capture_init(). */
static uint32_t capture_depth;
static uintptr_t own_begin, own_end; /* address range of the recorder's code */

bool
capture_init(uint32_t depth)
{
	struct code_object own;

	if (!stack_table_init() || !object_table_init())
		return false;
	code_object_init();
	stack_memory_begin();
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

static void
discard(struct capture *c)
{
	if (c->memo != NULL)
		memory_unmap(c->memo, sizeof(*c->memo), MEMORY_LASTING);
	if (c->paths != NULL)
		memory_unmap(c->paths, sizeof(*c->paths), MEMORY_LASTING);
	memory_unmap(c, sizeof(*c), MEMORY_LASTING);
}

struct capture *
capture_make(void)
{
	/*
	 * A signal handler may interrupt a walk and fork.  The child then
	 * returns into the walk, which reads memory at the addresses that the
	 * frames in 'c->walk' hold, so the child needs a copy of these frames.
	 * But the child must not use its parent's stack numbers, so the kernel
	 * wipes the memo and the paths in the child.
	 */
	struct capture *const c = memory_map_forked(sizeof(*c));

	if (c == NULL)
		return NULL;
	c->memo = memory_map_wiped(sizeof(*c->memo));
	c->paths = memory_map_wiped(sizeof(*c->paths));
	if (c->memo == NULL || c->paths == NULL) {
		discard(c);
		return NULL;
	}
	c->walk.depth = capture_depth;
	return c;
}

/*
 * Return the number of the caller of the walk's outermost frame.  If callers
 * are missing from the walk, this is the number of a stack with a single frame,
 * the mark that walk_mark() returns.  Return 0 if no caller is missing, or if
 * no number is free.
 */
static uint32_t
number_end(const struct walk *walk)
{
	const uint32_t mark = walk_mark(walk);
	const uint64_t key = stack_key_add(0, mark);
	uint32_t id;

	if (mark == 0)
		return 0;
	id = stack_table_find(key, 0, mark);
	if (id != 0)
		return id;
	id = stack_table_claim(0, mark);
	return id != 0 ? stack_table_insert(key, id) : 0;
}

/*
 * Give a number to a new stack, and return the number.  The stack is a frame
 * with the return address 'address', called from the stack 'parent'.  'key' is
 * the new stack's hash.  If the stack cannot get a number, return 'parent'.
 */
static __attribute__((noinline)) uint32_t
number_new(uint64_t key, uint32_t parent, uintptr_t address)
{
	const uint32_t object = object_table_find(address - 1);
	const uint32_t id =
		stack_table_claim(parent, stack_frame(address, object));

	return id != 0 ? stack_table_insert(key, id) : parent;
}

/*
 * Return the number of the stack that 'c->walk' has found.  Search from the
 * innermost frame outwards for a frame whose number is known.  Then find or
 * assign the numbers of the frames further in.
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
		if (node == 0)
			stack_table_prefetch(frame[i].key);
	}
	if (node != 0)
		i++;
	else
		node = number_end(&c->walk);
	for (; i < c->walk.count; i++) {
		const uintptr_t address = c->walk.place[i].address;
		const uint64_t key = frame[i].key;
		const uint32_t id = stack_table_find(key, node, address);

		node = id != 0 ? id : number_new(key, node, address);
		frame[i].node = node;
		stack_memo_put(c->memo, key, epoch, node);
	}
	return node;
}

/* Walk the stack, and find its number. */
static __attribute__((noinline)) uint32_t
walk_and_number(struct capture *c, const struct walk_context *here,
		const struct walk_outlet *outlet, uint32_t epoch)
{
	struct walk *const walk = &c->walk;
	struct walk_frame *top;

	walk_stack(walk, here, outlet, own_begin, own_end);
	if (walk->count == 0)
		return number_end(walk);
	top = &walk->frame[walk->count - 1];
	if (top->node == 0)
		top->node = stack_memo_find(c->memo, top->key, epoch);
	return top->node != 0 ? top->node : number_frames(c, epoch);
}

/* Find the number of a stack that was not predicted. */
static __attribute__((noinline)) uint32_t
search_or_walk(struct capture *c, const struct walk_context *here,
	       uint32_t epoch)
{
	struct stack_memory memory;
	struct walk_outlet outlet;
	uint32_t node;

	stack_memory_init(&memory, here->sp);
	if (!walk_exits_find(&c->walk.exits, here->sp, here->bp, memory.high,
			     &outlet))
		return walk_and_number(c, here, NULL, epoch);
	if (!memory.is_known)
		return walk_and_number(c, here, &outlet, epoch);
	node = path_cache_find(c->paths, here, &outlet, memory.high, epoch);
	if (node != 0)
		return node;
	node = walk_and_number(c, here, &outlet, epoch);
	if (node != 0 && c->walk.count != 0)
		path_cache_add(c->paths, &c->walk, here, &outlet, node, epoch);
	return node;
}

uint32_t
capture_stack(struct capture *c)
{
	const struct walk_context here = walk_here();
	const uint32_t epoch = stack_table_epoch();
	const uintptr_t end = stack_memory_end(here.sp);
	uint32_t node = 0;

	if (__builtin_expect(end != 0, 1))
		node = path_cache_predict(c->paths, &here, end & ~(uintptr_t)7,
					  epoch);
	return __builtin_expect(node != 0, 1) ? node
					      : search_or_walk(c, &here, epoch);
}
