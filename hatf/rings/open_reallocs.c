/* SPDX-License-Identifier: MIT */
/* open_reallocs.c - see open_reallocs.h */

#include "hatf/rings/open_reallocs.h"

#include <stddef.h>

#include "hatf/rings/order.h"

/*
 * Return the bit of 's' that says which child of a node at 'depth' leads to
 * 's'.  At a depth below 64, this is a bit of the old address, from the highest
 * bit on.  From depth 64 on, it is a bit of the address of 's' itself, which
 * tells producers with the same old address apart.  The low bits of this
 * address come first, because they differ soonest.
 */
static unsigned
branch(const struct order_producer *s, unsigned depth)
{
	const uint64_t bit = depth < 64 ? s->realloc_old >> (63 - depth)
					: (uintptr_t)s >> (depth - 64);

	return (unsigned)(bit & 1);
}

/*
 * Return the index of the child that must be higher in the tree: the one whose
 * old block ends later in memory, or the only child.
 */
static unsigned
higher(struct order_producer *const *child)
{
	if (child[0] == NULL || child[1] == NULL)
		return child[0] == NULL;
	return child[1]->realloc_last > child[0]->realloc_last;
}

void
open_reallocs_add(struct open_reallocs *o, struct order_producer *s)
{
	struct order_producer **link = &o->root;

	for (unsigned depth = 0; *link != NULL; depth++) {
		struct order_producer *const at = *link;

		o->step_count++;
		if (s->realloc_last > at->realloc_last) {
			/* 's' takes the place of 'at', which moves down. */
			s->realloc_child[0] = at->realloc_child[0];
			s->realloc_child[1] = at->realloc_child[1];
			*link = s;
			s = at;
		}
		link = &(*link)->realloc_child[branch(s, depth)];
	}
	s->realloc_child[0] = s->realloc_child[1] = NULL;
	*link = s;
}

void
open_reallocs_remove(struct open_reallocs *o, struct order_producer *s)
{
	struct order_producer **link = &o->root;
	struct order_producer *child[2] = {
		s->realloc_child[0],
		s->realloc_child[1],
	};

	for (unsigned depth = 0; *link != s; depth++) {
		o->step_count++;
		link = &(*link)->realloc_child[branch(s, depth)];
	}
	/*
	 * Move the child that higher() returns up to the place at '*link'.
	 * Then fill the place that this child has left in the same way, and so
	 * on.
	 */
	for (;;) {
		const unsigned side = higher(child);
		struct order_producer *const up = child[side];

		o->step_count++;
		*link = up;
		if (up == NULL)
			return;
		link = &up->realloc_child[side];
		child[side] = up->realloc_child[side];

		struct order_producer *const other = child[!side];

		child[!side] = up->realloc_child[!side];
		up->realloc_child[!side] = other;
	}
}

struct order_producer *
open_reallocs_find(struct open_reallocs *o, uint64_t first, uint64_t last)
{
	struct order_producer *s = o->root;

	for (unsigned depth = 0; s != NULL && s->realloc_last >= first;
	     depth++) {
		struct order_producer *const left = s->realloc_child[0];
		uint64_t bit;

		o->step_count++;
		if (s->realloc_old <= last)
			return s;
		/*
		 * From this depth on, all old addresses in a subtree are the
		 * same.
		 */
		if (depth == 64)
			break;
		bit = (uint64_t)1 << (63 - depth);
		/*
		 * Go left if even the lowest old address that the right child
		 * can have is above 'last'.
		 */
		if (((s->realloc_old & -bit) | bit) > last) {
			s = left;
			continue;
		}
		/*
		 * The lowest old address that the right child can have is at
		 * most 'last'.  The old address of the left child is lower, so
		 * the left child is a result unless its old block ends before
		 * 'first'.
		 */
		if (left != NULL && left->realloc_last >= first)
			return left;
		s = s->realloc_child[1];
	}
	return NULL;
}

void
open_reallocs_visit(struct open_reallocs *o,
		    void visit(void *context, struct order_producer *s),
		    void *context)
{
	struct order_producer *left[OPEN_REALLOCS_DEPTH + 1];
	unsigned count = 0;

	if (o->root != NULL)
		left[count++] = o->root;
	while (count != 0) {
		struct order_producer *const s = left[--count];

		o->step_count++;
		visit(context, s);
		for (unsigned i = 0; i < 2; i++)
			if (s->realloc_child[i] != NULL)
				left[count++] = s->realloc_child[i];
	}
}
