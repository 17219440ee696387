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
struct forest_trace {
	char *path;
	bool is_found; /* in a directory: nobody named it */
	char *host, *exe, *command, *parent_trace, *ancestors;
	uint64_t pid, ppid, pid_start;
	uint64_t start_ns;   /* CLOCK_MONOTONIC */
	uint64_t start_time; /* ns since 1970 */
	uint64_t parent_pid, parent_event;
	bool is_exact; /* 'parent_event' */
	uint64_t segment, events_before, lost_before;
	bool has_tail;
	struct tail tail;
};

enum forest_origin {
	FOREST_ROOT,   /* of no process here */
	FOREST_FORK,   /* of 'parent' */
	FOREST_EXEC,   /* in the process of 'parent', its image before */
	FOREST_START,  /* another program, started by 'parent' */
	FOREST_ORPHAN, /* a fork of a process whose trace is not here */
};

struct forest_node {
	struct forest_trace *traces; /* segments, in order */
	size_t trace_count;
	enum forest_origin origin;
	unsigned untraced; /* FOREST_START: processes between, not traced */
	struct forest_node *parent, *first_child, *last_child, *next;
	unsigned depth; /* of a root 0 */
};

/* Where in the trace of its parent a child of a fork begins. */
struct forest_fork {
	bool is_known;	/* 'event' */
	uint64_t event; /* logical events before the fork ... */
	bool in_segment;
	uint64_t segment; /* ... in this segment, if 'in_segment' */
};

struct forest {
	struct forest_trace *traces;
	size_t trace_count, trace_cap;
	struct forest_node *nodes;
	size_t node_count;
	struct forest_node *first_root, *last_root;
};

/* An empty forest. */
void forest_init(struct forest *f);
void forest_fini(struct forest *f);

/*
 * Add the trace at 'path', or the traces in the directory there, in which other
 * files do not matter.  False if there is no trace, no such file, or no memory,
 * which has been said then.
 */
bool forest_add(struct forest *f, const char *path);

/* After the last one: put them in order.  False: no memory. */
bool forest_grow(struct forest *f);

/*
 * The node after 'node' (NULL: the first) as a tree is written down, each before
 * its children, or NULL.
 */
struct forest_node *forest_next(const struct forest *f,
				const struct forest_node *node);

/* For a node whose header names a parent, be that here or not. */
struct forest_fork forest_find_fork(const struct forest_node *node);

/* The last trace of the node: it has the trailer. */
static inline const struct forest_trace *
forest_last(const struct forest_node *node)
{
	return &node->traces[node->trace_count - 1];
}

#endif /* PROCESS_TREE_H */
