/* SPDX-License-Identifier: MIT */
/* spans.c - see spans.h */
#include "spans.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A leaf is 1 KiB. */
#define LEAF_MAX  41
#define INNER_MAX 64

struct leaf {
	struct leaf *before, *after;
	unsigned count;
	struct span spans[LEAF_MAX];
};

/* What comes before its first piece, or NULL for the first of its node. */
struct key {
	uint64_t heap, start;
};

struct inner {
	unsigned count;
	struct key keys[INNER_MAX]; /* the first one is never looked at */
	void *children[INNER_MAX];
};

static inline bool
is_before(uint64_t heap, uint64_t start, uint64_t other_heap,
	  uint64_t other_start)
{
	return heap != other_heap ? heap < other_heap : start < other_start;
}

static void
free_node(void *node, unsigned height)
{
	struct inner *const inner = node;

	for (unsigned i = 0; height != 0 && i < inner->count; i++)
		free_node(inner->children[i], height - 1);
	free(node);
}

void
spans_fini(struct spans *s)
{
	if (s->root != NULL)
		free_node(s->root, s->height);
	*s = (struct spans){ 0 };
}

/* Which child has, or would have, what begins there? */
static unsigned
choose_child(const struct inner *node, uint64_t heap, uint64_t start)
{
	unsigned low = 0, high = node->count;

	while (high - low > 1) {
		const unsigned mid = (low + high) / 2;

		if (is_before(heap, start, node->keys[mid].heap,
			      node->keys[mid].start))
			high = mid;
		else
			low = mid;
	}
	return low;
}

/* The place in a leaf of the first piece that does not come before. */
static unsigned
choose_place(const struct leaf *leaf, uint64_t heap, uint64_t start)
{
	unsigned low = 0, high = leaf->count;

	while (low < high) {
		const unsigned mid = (low + high) / 2;

		if (is_before(leaf->spans[mid].heap, leaf->spans[mid].start,
			      heap, start))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Find the leaf, and the way to it.  There must be a root. */
static struct leaf *
descend(struct spans *s, uint64_t heap, uint64_t start)
{
	void *node = s->root;

	for (unsigned depth = 0; depth < s->height; depth++) {
		struct inner *const inner = node;
		const unsigned at = choose_child(inner, heap, start);

		s->path[depth] = inner;
		s->path_at[depth] = (uint8_t)at;
		node = inner->children[at];
	}
	return node;
}

struct span *
spans_find(struct spans *s, uint64_t heap, uint64_t start,
	   struct span **before_ret, struct span **after_ret)
{
	struct leaf *leaf;
	struct span *found = NULL;
	unsigned i;

	*before_ret = *after_ret = NULL;
	if (s->root == NULL)
		return NULL;
	leaf = descend(s, heap, start);
	i = choose_place(leaf, heap, start);
	if (i != 0)
		*before_ret = &leaf->spans[i - 1];
	else if (leaf->before != NULL)
		*before_ret = &leaf->before->spans[leaf->before->count - 1];
	if (i < leaf->count && leaf->spans[i].heap == heap &&
	    leaf->spans[i].start == start)
		found = &leaf->spans[i++];
	if (i < leaf->count)
		*after_ret = &leaf->spans[i];
	else if (leaf->after != NULL)
		*after_ret = &leaf->after->spans[0];
	return found;
}

/* ------------------------------------------------------------------ putting */

static void
insert_span(struct leaf *leaf, unsigned i, const struct span *span)
{
	memmove(&leaf->spans[i + 1], &leaf->spans[i],
		(leaf->count - i) * sizeof(*span));
	leaf->spans[i] = *span;
	leaf->count++;
}

static void
insert_child(struct inner *node, unsigned i, const struct key *key, void *child)
{
	const size_t n = node->count - i;

	memmove(&node->keys[i + 1], &node->keys[i], n * sizeof(*key));
	memmove(&node->children[i + 1], &node->children[i], n * sizeof(child));
	node->keys[i] = *key;
	node->children[i] = child;
	node->count++;
}

/*
 * How many of 'count' stay in a node that is full, when one more is to come at 'i'?
 * All, where a heap grows at its end.
 */
static unsigned
keep_count(unsigned count, unsigned i)
{
	return i == count ? count : count / 2;
}

/* A second leaf for what does not stay in the first; no leaf becomes empty. */
static struct leaf *
split_leaf(struct leaf *leaf, unsigned keep)
{
	struct leaf *const next = malloc(sizeof(*next));

	if (next == NULL)
		return NULL;
	next->count = leaf->count - keep;
	memcpy(next->spans, &leaf->spans[keep],
	       next->count * sizeof(next->spans[0]));
	leaf->count = keep;
	next->before = leaf;
	next->after = leaf->after;
	if (next->after != NULL)
		next->after->before = next;
	leaf->after = next;
	return next;
}

static struct inner *
split_inner(struct inner *node, unsigned keep)
{
	struct inner *const next = malloc(sizeof(*next));
	const unsigned count = node->count - keep;

	if (next == NULL)
		return NULL;
	next->count = count;
	memcpy(next->keys, &node->keys[keep], count * sizeof(next->keys[0]));
	memcpy(next->children, &node->children[keep],
	       count * sizeof(next->children[0]));
	node->count = keep;
	return next;
}

/* A node above the root and what was split off from it. */
static bool
grow_root(struct spans *s, const struct key *key, void *child)
{
	struct inner *const root = malloc(sizeof(*root));

	if (root == NULL || s->height == SPANS_HEIGHT_MAX) {
		free(root);
		return false;
	}
	root->count = 2;
	root->keys[0] = root->keys[1] = *key;
	root->children[0] = s->root;
	root->children[1] = child;
	s->root = root;
	s->height++;
	return true;
}

/* 'child', of which 'key' is the first, comes behind the leaf that was found. */
static bool
add_child(struct spans *s, struct key key, void *child)
{
	for (unsigned depth = s->height; depth-- > 0;) {
		struct inner *const node = s->path[depth];
		const unsigned at = s->path_at[depth] + 1u;
		struct inner *next;
		struct key next_key;

		if (node->count < INNER_MAX) {
			insert_child(node, at, &key, child);
			return true;
		}

		const unsigned keep = keep_count(node->count, at);

		next_key = keep < node->count ? node->keys[keep] : key;
		next = split_inner(node, keep);
		if (next == NULL)
			return false;
		/* What comes first in 'next' is known already, or this. */
		if (at > keep || next->count == 0)
			insert_child(next, at - keep, &key, child);
		else
			insert_child(node, at, &key, child);
		key = next_key;
		child = next;
	}
	/* Without memory the set is of no more use. */
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return grow_root(s, &key, child);
}

bool
spans_put(struct spans *s, const struct span *span)
{
	struct leaf *leaf;
	unsigned i;

	if (s->root == NULL) {
		s->root = calloc(1, sizeof(struct leaf));
		s->height = 0;
	}
	if (s->root == NULL)
		return false;
	leaf = descend(s, span->heap, span->start);
	i = choose_place(leaf, span->heap, span->start);
	if (leaf->count < LEAF_MAX) {
		insert_span(leaf, i, span);
		return true;
	}

	const unsigned keep = keep_count(leaf->count, i);
	struct leaf *const next = split_leaf(leaf, keep);

	if (next == NULL)
		return false;
	if (i >= keep)
		insert_span(next, i - keep, span);
	else
		insert_span(leaf, i, span);

	const struct key key = { next->spans[0].heap, next->spans[0].start };

	return add_child(s, key, next);
}

/* ----------------------------------------------------------------- removing */

/* A leaf is empty: take it out of the tree, and each node that is, too, by that. */
static void
remove_leaf(struct spans *s, struct leaf *leaf)
{
	if (leaf->before != NULL)
		leaf->before->after = leaf->after;
	if (leaf->after != NULL)
		leaf->after->before = leaf->before;
	free(leaf);
	for (unsigned depth = s->height; depth-- > 0;) {
		struct inner *const node = s->path[depth];
		const unsigned at = s->path_at[depth];
		const size_t n = --node->count - at;

		memmove(&node->keys[at], &node->keys[at + 1],
			n * sizeof(node->keys[0]));
		memmove(&node->children[at], &node->children[at + 1],
			n * sizeof(node->children[0]));
		if (node->count != 0)
			return;
		free(node);
	}
	*s = (struct spans){ 0 };
}

/* A root with one child is none. */
static void
shrink_root(struct spans *s)
{
	while (s->height != 0 && ((struct inner *)s->root)->count == 1) {
		struct inner *const root = s->root;

		s->root = root->children[0];
		s->height--;
		free(root);
	}
}

bool
spans_remove(struct spans *s, uint64_t heap, uint64_t start)
{
	struct leaf *leaf;
	unsigned i;

	if (s->root == NULL)
		return false;
	leaf = descend(s, heap, start);
	i = choose_place(leaf, heap, start);
	if (i == leaf->count || leaf->spans[i].heap != heap ||
	    leaf->spans[i].start != start)
		return false;
	leaf->count--;
	memmove(&leaf->spans[i], &leaf->spans[i + 1],
		(leaf->count - i) * sizeof(leaf->spans[0]));
	if (leaf->count == 0)
		remove_leaf(s, leaf);
	shrink_root(s);
	return true;
}
