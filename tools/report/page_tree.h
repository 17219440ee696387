/* SPDX-License-Identifier: MIT */
/*
 * page_tree.h - the strings, frames and call paths that a page needs
 *
 * A string, frame or path gets a row only when it is requested.  Therefore the
 * size of the tables depends on the sites that a page shows, not on the stacks
 * of the trace.
 *
 * Only one thread at a time may use a tree.
 */
#ifndef PAGE_TREE_H
#define PAGE_TREE_H

#include "hatf/hatf.h"
#include "tools/sites/id_rows.h"
#include "tools/summary/site_names.h"
#include "tools/ui/out.h"

/* An array of rows that grows. */
struct page_rows {
	uint32_t *rows;
	uint32_t count, cap;
};

/* Only page_tree.c changes the members. */
struct page_tree {
	const struct hatf_stacks *stacks; /* owned by the caller */
	struct site_names *names;	  /* owned by the caller */
	char **texts;
	uint32_t text_count, text_cap;
	/*
	 * hash table of the texts; a slot has the row of a text plus 1, or 0 if
	 * it is free
	 */
	uint32_t *slots;
	size_t slot_count;
	struct seeded_hash hash;
	/* What is known about each frame, by the row of the frame. */
	struct page_rows function, module, file, line;
	struct id_rows frame_ids;
	/*
	 * if frame_ids has the id of a frame in row i, rows[i] is the row of
	 * that frame in the tables above
	 */
	struct page_rows frame_of_id;
	/* parent and frame of each node, by the row of the node */
	struct page_rows parent, frame;
	struct id_rows stack_ids;
	/*
	 * if stack_ids has the id of a stack in row i, rows[i] is the node of
	 * that stack
	 */
	struct page_rows node_of_id;
	/*
	 * upper bound of the bytes that the strings, frames and nodes take on
	 * the page
	 */
	uint64_t nbytes;
	bool no_memory;
};

/* Begin a tree with the empty string in row 0, and the root as node 0. */
void page_tree_begin(struct page_tree *t, const struct hatf_stacks *stacks,
		     struct site_names *names);
void page_tree_free(struct page_tree *t);

/* Return the row of a string; NULL stands for the empty string. */
uint32_t page_tree_text(struct page_tree *t, const char *text);

/*
 * Return the row of a frame of the trace.  If the frame has no row yet, add
 * one.  page_tree_name() adds a frame that has only a name, and returns its
 * row.
 */
uint32_t page_tree_frame(struct page_tree *t, uint64_t frame_id);
uint32_t page_tree_name(struct page_tree *t, const char *name);

/* Return the row of a frame of the trace, or PAGE_NONE if it has none. */
uint32_t page_tree_find_frame(const struct page_tree *t, uint64_t frame_id);

/*
 * Return the node of a call stack, which must be defined.  If the stack has no
 * node yet, add one.
 */
uint32_t page_tree_node(struct page_tree *t, uint64_t stack_id);

/* Return the node of a call stack, or PAGE_NONE if it has none. */
uint32_t page_tree_find(const struct page_tree *t, uint64_t stack_id);

/* Add a node for 'frame' below the node 'parent'.  Return the new node. */
uint32_t page_tree_leaf(struct page_tree *t, uint32_t parent, uint32_t frame);

/* Append to an array; false if there is no memory. */
bool page_rows_add(struct page_rows *r, uint32_t value);

/* Write the members 'strings', 'frames' and 'nodes'. */
void page_tree_write(const struct page_tree *t, struct out *o);

#endif /* PAGE_TREE_H */
