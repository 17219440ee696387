/* SPDX-License-Identifier: MIT */
/* tree_sort.c - sort siblings by a measure; see process_tree.h */

#include "tools/trace/process_tree.h"

#include <stdlib.h>

struct entry {
	struct tree_node *node;
	uint64_t weight;
	size_t rank; /* position of the node before tree_sort() */
};

struct sorter {
	struct tree *tree;
	uint64_t *heaviest; /* largest weight in the subtree of each node */
	struct entry *entries;
};

static uint64_t *
heaviest_of(const struct sorter *s, const struct tree_node *node)
{
	return &s->heaviest[node - s->tree->nodes];
}

/*
 * Find the largest weight in each subtree: pass the weights from the children
 * to their parents, in reverse preorder.
 */
static void
weigh_subtrees(struct sorter *s, const uint64_t *weights)
{
	size_t n = 0;

	for (struct tree_node *node = tree_next(s->tree, NULL); node != NULL;
	     node = tree_next(s->tree, node)) {
		*heaviest_of(s, node) = weights[node - s->tree->nodes];
		s->entries[n++].node = node;
	}
	while (n-- > 0) {
		const struct tree_node *const node = s->entries[n].node;
		const uint64_t weight = *heaviest_of(s, node);

		if (node->parent != NULL &&
		    *heaviest_of(s, node->parent) < weight)
			*heaviest_of(s, node->parent) = weight;
	}
}

static int
compare_entries(const void *x, const void *y)
{
	const struct entry *const a = x, *const b = y;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static void
sort_siblings(struct sorter *s, struct tree_node **first,
	      struct tree_node **last)
{
	struct tree_node *next = NULL;
	size_t n = 0;

	for (struct tree_node *node = *first; node != NULL; node = node->next) {
		s->entries[n] =
			(struct entry){ node, *heaviest_of(s, node), n };
		n++;
	}
	if (n < 2)
		return;
	qsort(s->entries, n, sizeof(*s->entries), compare_entries);
	*last = s->entries[n - 1].node;
	while (n-- > 0) {
		s->entries[n].node->next = next;
		next = s->entries[n].node;
	}
	*first = next;
}

bool
tree_sort(struct tree *f, const uint64_t *weights)
{
	struct sorter s = {
		.tree = f,
		.heaviest = calloc(f->node_count + 1, sizeof(*s.heaviest)),
		.entries = calloc(f->node_count + 1, sizeof(*s.entries)),
	};
	const bool is_fine = s.heaviest != NULL && s.entries != NULL;

	if (is_fine) {
		weigh_subtrees(&s, weights);
		sort_siblings(&s, &f->first_root, &f->last_root);
		for (size_t i = 0; i < f->node_count; i++)
			sort_siblings(&s, &f->nodes[i].first_child,
				      &f->nodes[i].last_child);
	}
	free(s.heaviest);
	free(s.entries);
	return is_fine;
}
