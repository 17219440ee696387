/* SPDX-License-Identifier: MIT */
/*
 * stack_table.h - one number for each call stack of the process
 *
 * A stack is a frame and the stack of its caller.  Stacks therefore form a
 * tree, and a number identifies a node of the tree.  All threads share the
 * tree.  It only grows, and each node is complete before a search can find it,
 * so no lock is needed.  A search finds a node by its parent and its address.
 * A hash of the stack's frames, the key, says where the search looks for the
 * node.
 *
 * The tables are mapped once, and only used pages take memory: 20 bytes for a
 * stack, 8 for a frame, and the hash tables of stacks and of frames.  A hash
 * table takes 8 KiB for up to about 1300 entries, 1 MiB for up to 170 000,
 * 5 MiB for up to 800 000, and 21 MiB for more.  When STACK_TABLE_MAX is
 * reached, new stacks get no number.  Their events are recorded with the number
 * of the innermost caller that has one.
 *
 * The child of a fork begins with empty tables.  Any thread and any signal
 * handler may call these functions.  Except for stack_table_init(), none
 * allocates, locks or makes a system call.
 */
#ifndef STACK_TABLE_H
#define STACK_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/stack_image.h"

#define STACK_TABLE_MAX STACK_IMAGE_NODES_MAX

/*
 * stack_table_nbytes() returns the size of the tables.  stack_table_init() maps
 * them and returns false if there is no memory.
 */
size_t stack_table_nbytes(void);
bool stack_table_init(void);

/*
 * Return the number of the stack with the frame 'address' and the caller
 * 'parent'; 0 if it has no number yet.  'key' is a hash of all frames of the
 * stack.  All searches for a stack, and its insertion, must use the same key.
 * Two stacks may have the same key.
 */
uint32_t stack_table_find(uint64_t key, uint32_t parent, uintptr_t address);

/*
 * Let the processor load what a search for this key reads first.  If several
 * searches follow, the processor then waits for memory only once.
 */
void stack_table_prefetch(uint64_t key);

/*
 * Take a number for a new stack.  A search finds the stack only after
 * stack_table_insert().  'frame' holds the address of the innermost frame and
 * the number of the program or library that contains this address
 * (stack_frame()).  Return 0 if the table is full, or if 'parent' is not in the
 * table.
 */
uint32_t stack_table_claim(uint32_t parent, uint64_t frame);

/*
 * Insert the stack 'id', so that a search can find it.  Return 'id', or the
 * number of an equal stack that another thread has inserted first.
 */
uint32_t stack_table_insert(uint64_t key, uint32_t id);

/*
 * Return the stack with the number 'id'.  'id' must be a number that
 * stack_table_claim() has returned, and not 0.
 */
const struct stack_image_node *stack_table_node(uint32_t id);

/*
 * Return the next number, which is the count of used numbers including 0.  Only
 * tests call this.
 */
uint32_t stack_table_count(void);

/*
 * Return how often a new stack got no number because the table was full.
 */
uint64_t stack_table_full(void);

/*
 * Hide the stacks of an object from all later searches, and begin a new epoch.
 * Call this when the object is no longer loaded, because its addresses may now
 * belong to another object.
 */
void stack_table_retire(uint32_t object);

/*
 * Begin a new epoch: the numbers that threads remember are no longer valid, and
 * threads search for them again.
 */
void stack_table_begin_epoch(void);

/*
 * The variables that each capture reads.  stack_table_init() sets the pointer
 * to them.
 */
struct stack_table_turn {
	_Atomic uint32_t generation; /* the current generation minus 1 */
	_Atomic uint32_t epoch;
	/*
	 * for each stack, the latest generation (stack_table_generation()) in
	 * which some ring got the definition of the stack
	 */
	_Atomic uint32_t defined[STACK_IMAGE_NODES_MAX];
};

extern struct stack_table_turn *stack_table_turn
	__attribute__((visibility("hidden")));

/*
 * Return the number of the current epoch.  If the epoch has changed since a
 * thread found a stack's number, the stack's number may belong to other code.
 */
static inline uint32_t
stack_table_epoch(void)
{
	/*
	 * relaxed: a thread that runs code of a new object has synchronized
	 * with the thread that retired the old object at this address, so it
	 * reads the new epoch.
	 */
	return atomic_load_explicit(&stack_table_turn->epoch,
				    memory_order_relaxed);
}

/*
 * For recovery, the rings together must have the definitions of the stacks and
 * objects to which their events refer: each definition is in one of the rings.
 * A definition is valid for one generation, which is a segment of the trace;
 * each segment defines everything again.  stack_table_generation() returns the
 * current generation.  In the functions below, 'id' is the number of a stack or
 * of an object.
 */
static inline uint32_t
stack_table_generation(void)
{
	/*
	 * relaxed: if a thread reads an old generation after it has put a stack
	 * into its ring, writer_define_stacks() finds the stack there.
	 */
	return 1 + atomic_load_explicit(&stack_table_turn->generation,
					memory_order_relaxed);
}

static inline bool
stack_table_is_defined(uint32_t id, uint32_t generation)
{
	/* acquire: pairs with the release in stack_table_set_defined(). */
	return atomic_load_explicit(&stack_table_turn->defined[id],
				    memory_order_acquire) == generation;
}

void stack_table_set_defined(uint32_t id, uint32_t generation);
bool stack_table_is_object_defined(uint32_t id, uint32_t generation);
void stack_table_set_object_defined(uint32_t id, uint32_t generation);

/* Writer: a segment begins, so begin a new generation. */
void stack_table_begin_segment(void);

#endif /* STACK_TABLE_H */
