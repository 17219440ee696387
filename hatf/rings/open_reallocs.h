/* SPDX-License-Identifier: MIT */
/*
 * open_reallocs.h - find the open realloc whose old block overlaps some memory
 *
 * An index of producers by the old block of their open realloc: a radix
 * priority search tree, whose nodes are members of struct order_producer.  The
 * tree branches by the bits of the old address, from the highest on, and then
 * by the bits of the address of the struct order_producer.  A path from the
 * root therefore has at most OPEN_REALLOCS_DEPTH producers.  On each path from
 * the root, the old blocks end lower and lower in memory.  Each call, except
 * open_reallocs_visit(), follows only one path, however many producers there
 * are, and even if all their old blocks overlap, as a damaged ring file may
 * claim.
 *
 * Only the consumer's thread calls these functions.  None of them allocates,
 * locks or makes a system call.
 */
#ifndef OPEN_REALLOCS_H
#define OPEN_REALLOCS_H

#include <stdint.h>

struct order_producer;

/* Maximum number of producers on a path from the root. */
#define OPEN_REALLOCS_DEPTH 129u

/* A zeroed tree is empty.  The caller owns the producers. */
struct open_reallocs {
	struct order_producer *root;
	/* number of steps that all calls together have taken; for tests */
	uint64_t step_count;
};

/*
 * Add 's', which must not be in the tree.  Its open realloc holds the bytes
 * from s->realloc_old to s->realloc_last, or no bytes if 'realloc_last' is 0.
 * The caller must not change these two members while 's' is in the tree.
 */
void open_reallocs_add(struct open_reallocs *o, struct order_producer *s);

/* Remove 's', which must be in the tree. */
void open_reallocs_remove(struct open_reallocs *o, struct order_producer *s);

/*
 * Return a producer whose open realloc holds one of the bytes from 'first' to
 * 'last', or NULL.  'first' must be above 0, and at most 'last'.
 */
struct order_producer *open_reallocs_find(struct open_reallocs *o,
					  uint64_t first, uint64_t last);

/*
 * Call visit() for each producer in the tree, in no particular order.  visit()
 * must not change the tree.
 */
void open_reallocs_visit(struct open_reallocs *o,
			 void visit(void *context, struct order_producer *s),
			 void *context);

#endif /* OPEN_REALLOCS_H */
