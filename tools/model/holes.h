/* SPDX-License-Identifier: MIT */
/*
 * holes.h - the free parts of a simulated heap
 *
 * Hash maps find a hole by its start or its end.  A treap finds a hole by its
 * size, in O(log n).  Two holes are never adjacent, because heap_model.c joins
 * such holes.
 *
 * A treap is a search tree that is a binary heap, too: each node has a random
 * priority, which is above the priorities of its children.  The treap keeps the
 * holes in the order that 'is_by_size' states.  Each node stores the largest
 * size in its subtree.
 */
#ifndef HOLES_H
#define HOLES_H

#include "hatf/containers/u64_map.h"

struct hole {
	uint64_t start, size;
};

struct hole_node {
	struct hole hole;
	uint64_t largest; /* size of the largest hole of the subtree */
	uint64_t priority;
	uint32_t left, right; /* indices of the children; 0: none */
};

struct holes {
	/* true: nodes are ordered by size, then by start; false: by start */
	bool is_by_size;
	struct hole_node *nodes;
	/* number of 'nodes' that were ever used; number of allocated 'nodes' */
	uint32_t count, cap;
	uint32_t root, spare;
	uint64_t seed;
	struct u64_map by_start; /* start -> size */
	struct u64_map by_end;	 /* end -> size */
};

void holes_init(struct holes *h, bool is_by_size);
void holes_fini(struct holes *h);

/* Add a hole.  Return false if there is no memory. */
bool holes_add(struct holes *h, struct hole hole);

/* Remove a hole, which must exist. */
void holes_remove(struct holes *h, struct hole hole);

/*
 * holes_at() returns the hole that begins at 'start', holes_before() the hole
 * that ends at 'end'.  If there is none, return a hole of size 0.
 */
struct hole holes_at(struct holes *h, uint64_t start);
struct hole holes_before(struct holes *h, uint64_t end);

/*
 * Return the first hole of at least 'size' bytes in the order of the nodes: if
 * the nodes are ordered by size, the smallest such hole.  Return a hole of size
 * 0 if there is none.
 */
struct hole holes_find(const struct holes *h, uint64_t size);

#endif /* HOLES_H */
