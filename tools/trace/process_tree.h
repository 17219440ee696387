/* SPDX-License-Identifier: MIT */
/*
 * process_tree.h - traces as the trees of processes that they come from
 *
 * Only the header and the trailer of each trace are read.  A node is one image of
 * a process, from its start or an exec to its end or the next exec, with all the
 * segments of its trace.  Headers are what somebody wrote: whatever they say, a
 * node has at most one parent and there are no cycles.
 */
#ifndef PROCESS_TREE_H
#define PROCESS_TREE_H

#include "tools/trace/trailer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One file.  Texts are never NULL; a number that is not there is 0. */
struct tree_trace {
	char *path;
	bool is_found; /* in a directory: nobody named it */
	char *host, *exe, *command, *parent_trace, *ancestors;
	uint64_t pid, ppid, pid_start;
	uint64_t start_ns;   /* CLOCK_MONOTONIC */
	uint64_t start_time; /* ns since 1970 */
	uint64_t parent_pid, parent_event;
	bool is_exact; /* 'parent_event' */
	uint64_t segment, events_before, lost_before;
	bool has_trailer;
	struct trailer tail;
};

enum tree_origin {
	TREE_ROOT,   /* of no process here */
	TREE_FORK,   /* of 'parent' */
	TREE_EXEC,   /* in the process of 'parent', its image before */
	TREE_START,  /* another program, started by 'parent' */
	TREE_ORPHAN, /* a fork of a process whose trace is not here */
};

struct tree_node {
	struct tree_trace *traces; /* segments, in order */
	size_t trace_count;
	enum tree_origin origin;
	unsigned untraced; /* TREE_START: processes between, not traced */
	struct tree_node *parent, *first_child, *last_child, *next;
	unsigned depth; /* of a root 0 */
};

/* Where in the trace of its parent a child of a fork begins. */
struct tree_fork {
	bool is_known;	/* 'event' */
	uint64_t event; /* logical events before the fork ... */
	bool in_segment;
	uint64_t segment; /* ... in this segment, if 'in_segment' */
};

struct tree {
	struct tree_trace *traces;
	size_t trace_count, trace_cap;
	struct tree_node *nodes;
	size_t node_count;
	struct tree_node *first_root, *last_root;
};

/* An empty forest. */
void tree_init(struct tree *f);
void tree_fini(struct tree *f);

/*
 * Add the trace at 'path', or the traces in the directory there, in which other
 * files do not matter.  False if there is no trace, no such file, or no memory,
 * which has been said then.
 */
bool tree_add(struct tree *f, const char *path);

/* After the last one: put them in order.  False: no memory. */
bool tree_build(struct tree *f);

/*
 * The node after 'node' (NULL: the first) as a tree is written down, each before
 * its children, or NULL.
 */
struct tree_node *tree_next(const struct tree *f, const struct tree_node *node);

/* For a node whose header names a parent, be that here or not. */
struct tree_fork tree_find_fork(const struct tree_node *node);

/* The last trace of the node: it has the trailer. */
static inline const struct tree_trace *
tree_last_trace(const struct tree_node *node)
{
	return &node->traces[node->trace_count - 1];
}

#endif /* PROCESS_TREE_H */
