/* SPDX-License-Identifier: MIT */
/*
 * process_tree.h - traces as trees of processes (prefix: tree_)
 *
 * Only the header and the trailer of each trace are read.  A node is one image
 * of a process: the time from its start, or from an exec, to the next exec or
 * to its end.  A node has all segments of the trace of this image.  Headers are
 * untrusted: whatever they say, a node has at most one parent and there are no
 * cycles.  Not thread-safe.
 */
#ifndef PROCESS_TREE_H
#define PROCESS_TREE_H

#include "tools/trace/trailer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_index;

/* One trace file.  Strings are never NULL; a missing number is 0. */
struct tree_trace {
	char *path;
	bool is_found; /* found in a directory, not named by the user */
	char *host, *exe, *command, *parent_trace, *ancestors;
	uint64_t pid, ppid, pid_start;
	uint64_t start_ns;   /* CLOCK_MONOTONIC */
	uint64_t start_time; /* ns since 1970 */
	uint64_t parent_pid, parent_event;
	bool is_exact; /* 'parent_event' is exact */
	uint64_t segment, events_before, lost_before;
	bool has_trailer;
	struct trailer tail;
};

enum tree_origin {
	TREE_ROOT, /* the node has no 'parent' and is not a TREE_ORPHAN */
	TREE_FORK, /* forked from 'parent' */
	TREE_EXEC, /* 'parent' is the previous image of the same process */
	/* started by 'parent', or by an untraced descendant of 'parent' */
	TREE_START,
	TREE_ORPHAN, /* forked from a process without a trace in the tree */
};

struct tree_node {
	struct tree_trace *traces; /* the segments of the image, in order */
	size_t trace_count;
	enum tree_origin origin;
	/*
	 * for TREE_START: number of untraced processes between the process of
	 * 'parent' and that of this node
	 */
	unsigned untraced;
	struct tree_node *parent, *first_child, *last_child, *next;
	unsigned depth; /* levels above the node; 0 for a root */
};

/* The position in the parent's trace where a child was forked. */
struct tree_fork {
	bool is_known;	/* 'event' is valid */
	uint64_t event; /* number of the parent's events before the fork */
	/* 'event' counts only the events of segment number 'segment' */
	bool in_segment;
	uint64_t segment;
};

/* The trees of all traces; there may be several roots. */
struct tree {
	struct tree_trace *traces;
	size_t trace_count, trace_cap;
	struct tree_node *nodes;
	size_t node_count;
	struct tree_node *first_root, *last_root;
	/* finds images while tree_build() runs; else NULL */
	const struct image_index *index;
	/*
	 * The caller may set this after tree_init().  Then tree_add() of a
	 * directory fails if a regular file in it is named *.hatf or *.hatf.gz
	 * but is not a trace.
	 */
	bool is_strict;
};

/* tree_init() makes an empty tree; tree_fini() frees its memory. */
void tree_init(struct tree *f);
void tree_fini(struct tree *f);

/*
 * Add the trace at 'path' or, if 'path' is a directory, the traces in it.
 * Ignore snapshots and, in a directory, files that are not traces with a HATF
 * header.  If 'path' does not exist or contains no trace, or if out of memory,
 * print an error message and return false.
 */
bool tree_add(struct tree *f, const char *path);

/*
 * Make the nodes and link them.  Siblings are in the order of their starts.
 * Call this once, after the last tree_add().  Return false if out of memory.
 */
bool tree_build(struct tree *f);

/*
 * Sort the children of each node, and the roots, by the largest weight of the
 * nodes in their subtrees; the largest comes first.  A subtree includes its top
 * node.  Siblings with equal weights keep their order.  'weights' has an
 * element for each element of 'nodes'.  Call this after tree_build().  Return
 * false if out of memory.
 */
bool tree_sort(struct tree *f, const uint64_t *weights);

/*
 * Return the node after 'node' in preorder, where each node comes before its
 * children.  If 'node' is NULL, return the first node.  After the last node,
 * return NULL.
 */
struct tree_node *tree_next(const struct tree *f, const struct tree_node *node);

/*
 * Return the node's trace whose file has the same name as 'path', apart from
 * the folders; NULL if there is none.
 */
const struct tree_trace *tree_find_file(const struct tree_node *node,
					const char *path);

/*
 * Return where a node was forked.  'is_known' is false if the position is
 * unknown, or if the node was not forked.  The parent's trace need not be in
 * the tree.
 */
struct tree_fork tree_find_fork(const struct tree_node *node);

/*
 * Return the last trace of the node.  Only this trace can contain the end of
 * the image.
 */
static inline const struct tree_trace *
tree_last_trace(const struct tree_node *node)
{
	return &node->traces[node->trace_count - 1];
}

#endif /* PROCESS_TREE_H */
