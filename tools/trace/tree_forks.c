/* SPDX-License-Identifier: MIT */
/* tree_forks.c - where processes were forked; see process_tree.h */

#include "tools/trace/process_tree.h"

#include <stdlib.h>
#include <string.h>

/*
 * Parse the number in ".sNNNN", the default suffix of a segment's name.  Ignore
 * the folders of the path.  Return false if the name has no such suffix.
 */
static bool
number_in_name(const char *path, uint64_t *n_ret)
{
	const char *const slash = strrchr(path, '/');
	const char *const name = slash != NULL ? slash + 1 : path;
	bool found = false;

	for (const char *p = strstr(name, ".s"); p != NULL;
	     p = strstr(p, ".s")) {
		const char *const digits = p + 2;

		p = digits + strspn(digits, "0123456789");
		if (p - digits >= 4 && (*p == '\0' || *p == '.')) {
			*n_ret = strtoull(digits, NULL, 10);
			found = true;
		}
	}
	return found;
}

/*
 * Return the segment of the parent's trace in which the node was forked, or
 * NULL if the tree lacks that segment.
 */
static const struct tree_trace *
find_forked(const struct tree_node *node, bool is_numbered, uint64_t segment)
{
	const struct tree_node *const parent = node->parent;
	const struct tree_trace *const found =
		parent != NULL
			? tree_find_file(parent, node->traces->parent_trace)
			: NULL;

	if (parent == NULL || found != NULL)
		return found;
	/*
	 * The file may have been renamed, so search by the number of the
	 * segment.
	 */
	for (size_t i = 0; is_numbered && i < parent->trace_count; i++)
		if (parent->traces[i].segment == segment)
			return &parent->traces[i];
	return NULL;
}

struct tree_fork
tree_find_fork(const struct tree_node *node)
{
	const struct tree_trace *const t = node->traces;
	const struct tree_node *const parent = node->parent;
	struct tree_fork fork = { .event = t->parent_event };
	const bool is_numbered = number_in_name(t->parent_trace, &fork.segment);
	const struct tree_trace *const forked =
		find_forked(node, is_numbered, fork.segment);

	if (forked != NULL)
		fork.event += forked->events_before;
	else
		fork.in_segment = is_numbered && fork.segment != 0;
	/*
	 * If 'event' is 0, but not exact, the position is unknown: either the
	 * child's header does not state the number of events, or the recorder
	 * had not counted any events of the parent yet.
	 */
	fork.is_known = t->is_exact || fork.event != 0;
	/*
	 * The child's header counts the parent's events from the start of a
	 * segment of the parent's trace.  The position of that segment is
	 * unknown if the tree lacks the segment, the segment's name has no
	 * number, and the parent has several segments.
	 */
	if (forked == NULL && !is_numbered && parent != NULL &&
	    tree_last_trace(parent)->segment != 0)
		fork.is_known = false;
	return fork;
}
