/* SPDX-License-Identifier: MIT */
/*
 * stack_table.h - one number for each call stack of the process
 *
 * A stack is a frame and the stack of its caller; so stacks form a tree, and a
 * number stands for a node of it.  All threads share the tree: it only grows,
 * and each node is complete before it can be found, so no lock is needed.  A
 * node is found by its parent and its address.
 *
 * The tables are reserved once, and take memory as far as they are used: 24
 * bytes for a stack, 12 for a frame, and at most 2 MiB for the search.  When
 * STACK_TABLE_MAX is reached, new stacks have no number: their events are
 * recorded with that of the innermost caller that has one (stack_table_full()
 * counts them).
 *
 * The child of a fork begins with empty tables.  Any thread and any handler may
 * call these functions; none allocates, locks or makes a system call.
 */
#ifndef STACK_TABLE_H
#define STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/rings/stack_image.h"

#define STACK_TABLE_MAX STACK_IMAGE_NODES_MAX

/* Map the tables, of stack_table_nbytes(); false: no memory. */
size_t stack_table_nbytes(void);
bool stack_table_init(void);

/* Find the stack of 'address' called by 'parent'; 0: it has no number yet. */
uint32_t stack_table_find(uint32_t parent, uintptr_t address);

/*
 * Take a number for a new stack, which can be found only after
 * stack_table_insert().  'frame' has the address and the object.  0: the table
 * is full, or 'parent' has no number in it.
 */
uint32_t stack_table_claim(uint32_t parent, uint64_t frame);

/*
 * Make the stack 'id' findable.  Return its number, or that of an equal one
 * that another thread has inserted first.
 */
uint32_t stack_table_insert(uint32_t id);

/* The stack with this number, which stack_table_claim() has returned. */
const struct stack_image_node *stack_table_node(uint32_t id);

/* How many numbers are taken, 0 included: the next one. */
uint32_t stack_table_count(void);

/* How many stacks have found no room. */
uint64_t stack_table_full(void);

/* Addresses in this object are those of another one from now on. */
void stack_table_retire(uint32_t object);

/*
 * How many objects are retired: numbers of stacks that were found before the
 * last one may be those of other code.
 */
uint32_t stack_table_epoch(void);

/*
 * Rings must have the definitions of what their events refer to, for recovery.
 * A definition counts for a generation, which is a segment of the trace: the
 * next one has to define all again.  'id' is that of a stack, or of an object.
 */
uint32_t stack_table_generation(void);
bool stack_table_is_defined(uint32_t id, uint32_t generation);
void stack_table_set_defined(uint32_t id, uint32_t generation);
bool stack_table_is_object_defined(uint32_t id, uint32_t generation);
void stack_table_set_object_defined(uint32_t id, uint32_t generation);

/* Writer: a segment begins. */
void stack_table_begin_segment(void);

#endif /* STACK_TABLE_H */
