/* SPDX-License-Identifier: MIT */
/* holes.c - see holes.h */
#include "tools/model/holes.h"

#include <stdlib.h>

static const struct hole no_hole = { 0, 0 };

void
holes_init(struct holes *h, bool is_by_size)
{
	*h = (struct holes){ .is_by_size = is_by_size, .seed = 1 };
	u64_map_init(&h->by_start);
	u64_map_init(&h->by_end);
}

void
holes_fini(struct holes *h)
{
	free(h->nodes);
	u64_map_fini(&h->by_start);
	u64_map_fini(&h->by_end);
}

/* ------------------------------------------------------------------- treap */

static bool
is_before(const struct holes *h, struct hole a, struct hole b)
{
	if (h->is_by_size && a.size != b.size)
		return a.size < b.size;
	return a.start < b.start;
}

static void
update(struct holes *h, uint32_t node)
{
	struct hole_node *const n = &h->nodes[node];
	const uint64_t left = h->nodes[n->left].largest;
	const uint64_t right = h->nodes[n->right].largest;

	n->largest = n->hole.size;
	if (left > n->largest)
		n->largest = left;
	if (right > n->largest)
		n->largest = right;
}

/* Split a tree into the nodes before 'key' and the rest. */
static void
split(struct holes *h, uint32_t tree, struct hole key, uint32_t *before,
      uint32_t *rest)
{
	struct hole_node *const n = &h->nodes[tree];

	if (tree == 0) {
		*before = *rest = 0;
		return;
	}
	if (is_before(h, n->hole, key)) {
		split(h, n->right, key, &n->right, rest);
		*before = tree;
	} else {
		split(h, n->left, key, before, &n->left);
		*rest = tree;
	}
	update(h, tree);
}

/* Join two trees.  All nodes of 'a' must come before those of 'b'. */
static uint32_t
join(struct holes *h, uint32_t a, uint32_t b)
{
	if (a == 0 || b == 0)
		return a + b;
	if (h->nodes[a].priority > h->nodes[b].priority) {
		h->nodes[a].right = join(h, h->nodes[a].right, b);
		update(h, a);
		return a;
	}
	h->nodes[b].left = join(h, a, h->nodes[b].left);
	update(h, b);
	return b;
}

/*
 * Move the node of a hole from a tree to the list 'spare' of unused nodes.
 * Return the new tree.
 */
static uint32_t
cut(struct holes *h, uint32_t tree, struct hole hole)
{
	struct hole_node *const n = &h->nodes[tree];

	if (n->hole.start == hole.start) {
		const uint32_t rest = join(h, n->left, n->right);

		n->left = h->spare;
		h->spare = tree;
		return rest;
	}
	if (is_before(h, hole, n->hole))
		n->left = cut(h, n->left, hole);
	else
		n->right = cut(h, n->right, hole);
	update(h, tree);
	return tree;
}

/* Return an unused node, or 0 if there is no memory. */
static uint32_t
take_node(struct holes *h)
{
	struct hole_node *nodes;
	uint32_t cap;

	if (h->spare != 0) {
		const uint32_t node = h->spare;

		h->spare = h->nodes[node].left;
		return node;
	}
	if (h->count < h->cap)
		return h->count++;
	cap = h->cap != 0 ? h->cap * 2 : 256;
	nodes = cap > h->cap ? reallocarray(h->nodes, cap, sizeof(*nodes))
			     : NULL;
	if (nodes == NULL)
		return 0;
	h->nodes = nodes;
	h->cap = cap;
	/* Index 0 stands for "no node", so do not use it. */
	if (h->count == 0)
		nodes[h->count++] = (struct hole_node){ 0 };
	return h->count++;
}

/* ------------------------------------------------------------------- holes */

static uint64_t
random_number(struct holes *h)
{
	h->seed ^= h->seed << 13;
	h->seed ^= h->seed >> 7;
	h->seed ^= h->seed << 17;
	return h->seed;
}

bool
holes_add(struct holes *h, struct hole hole)
{
	const uint32_t node = take_node(h);
	struct u64_map_entry *start, *end;
	uint32_t before, rest;
	bool added;

	if (node == 0)
		return false;
	start = u64_map_put(&h->by_start, hole.start, &added);
	end = u64_map_put(&h->by_end, hole.start + hole.size, &added);
	if (start == NULL || end == NULL)
		return false;
	start->value = hole.size;
	end->value = hole.size;
	h->nodes[node] = (struct hole_node){
		.hole = hole,
		.largest = hole.size,
		.priority = random_number(h),
	};
	split(h, h->root, hole, &before, &rest);
	h->root = join(h, join(h, before, node), rest);
	return true;
}

void
holes_remove(struct holes *h, struct hole hole)
{
	u64_map_remove(&h->by_start, u64_map_find(&h->by_start, hole.start));
	u64_map_remove(&h->by_end,
		       u64_map_find(&h->by_end, hole.start + hole.size));
	h->root = cut(h, h->root, hole);
}

struct hole
holes_at(struct holes *h, uint64_t start)
{
	const struct u64_map_entry *const e = u64_map_find(&h->by_start, start);

	return e != NULL ? (struct hole){ start, e->value } : no_hole;
}

struct hole
holes_before(struct holes *h, uint64_t end)
{
	const struct u64_map_entry *const e = u64_map_find(&h->by_end, end);

	return e != NULL ? (struct hole){ end - e->value, e->value } : no_hole;
}

struct hole
holes_find(const struct holes *h, uint64_t size)
{
	uint32_t node = h->root;

	if (node == 0 || h->nodes[node].largest < size)
		return no_hole;
	/*
	 * Descend to the first hole, in the order of the nodes, that has at
	 * least 'size' bytes.  A subtree contains such a hole if its 'largest'
	 * is at least 'size'.
	 */
	for (;;) {
		const struct hole_node *const n = &h->nodes[node];

		if (n->left != 0 && h->nodes[n->left].largest >= size)
			node = n->left;
		else if (n->hole.size >= size)
			return n->hole;
		else
			node = n->right;
	}
}
