/* SPDX-License-Identifier: MIT */
/*
 * holes.h - the free parts of a simulated heap
 *
 * Holes are found by their addresses, by their ends, and by their sizes, each
 * in O(log n).  Neighbours are never both holes: the heap joins them.
 *
 * A treap, a search tree whose nodes have random priorities and are a heap by
 * these.  Each node knows the largest size below it.
 */
#ifndef HOLES_H
#define HOLES_H

#include "hatf/containers/u64_map.h"

struct hole {
	uint64_t start, size;
};

struct hole_node {
	struct hole hole;
	uint64_t largest; /* of the subtree */
	uint64_t priority;
	uint32_t left, right; /* indices, 0: none */
};

struct holes {
	bool is_by_size; /* the order: (size, start), or start */
	struct hole_node *nodes;
	uint32_t count, cap; /* of 'nodes', with those in 'spare' */
	uint32_t root, spare;
	uint64_t seed;
	struct u64_map by_start; /* -> size */
	struct u64_map by_end;	 /* -> size */
};

void holes_init(struct holes *h, bool is_by_size);
void holes_fini(struct holes *h);

/* False: no memory. */
bool holes_add(struct holes *h, struct hole hole);

/* The hole must be there. */
void holes_remove(struct holes *h, struct hole hole);

/* The hole that begins, or ends, at an address; of size 0: there is none. */
struct hole holes_at(struct holes *h, uint64_t start);
struct hole holes_before(struct holes *h, uint64_t end);

/*
 * A hole of at least 'size' bytes: the smallest one if they are ordered by
 * size, and of several the first one; of size 0: there is none.
 */
struct hole holes_find(const struct holes *h, uint64_t size);

#endif /* HOLES_H */
