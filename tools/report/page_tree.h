/* SPDX-License-Identifier: MIT */
/*
 * page_tree.h - the strings, frames and call paths that a page needs
 *
 * Only what is asked for gets a row, so the tables are as small as the sites
 * that a page shows, however many stacks a trace has.
 *
 * Used by one thread at a time.
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

/* The members are for page_tree.c. */
struct page_tree {
	const struct hatf_stacks *stacks; /* the caller's */
	struct site_names *names;	  /* the caller's */
	char **texts;
	uint32_t text_count, text_cap;
	uint32_t *slots; /* a hash table of the texts, row plus 1 */
	size_t slot_count;
	struct seeded_hash hash;
	struct page_rows function, module, file, line; /* of frames */
	struct id_rows frame_ids;
	struct page_rows frame_of_id;	/* by row of frame_ids */
	struct page_rows parent, frame; /* of nodes */
	struct id_rows stack_ids;
	struct page_rows node_of_id; /* by row of stack_ids */
	bool no_memory;
};

/* Make the empty string and the root. */
void page_tree_begin(struct page_tree *t, const struct hatf_stacks *stacks,
		     struct site_names *names);
void page_tree_free(struct page_tree *t);

/* The row of a string; NULL is the empty one. */
uint32_t page_tree_text(struct page_tree *t, const char *text);

/* The row of a trace's frame, or of a new one that is only a name. */
uint32_t page_tree_frame(struct page_tree *t, uint64_t frame_id);
uint32_t page_tree_name(struct page_tree *t, const char *name);

/* The node of a call stack, which must be defined. */
uint32_t page_tree_node(struct page_tree *t, uint64_t stack_id);

/* The node of a call stack if it has one, or else PAGE_NONE. */
uint32_t page_tree_find(const struct page_tree *t, uint64_t stack_id);

/* A new node below another one. */
uint32_t page_tree_leaf(struct page_tree *t, uint32_t parent, uint32_t frame);

/* Append to an array; false if there is no memory. */
bool page_rows_add(struct page_rows *r, uint32_t value);

/* Write the members 'strings', 'frames' and 'nodes'. */
void page_tree_write(const struct page_tree *t, struct out *o);

#endif /* PAGE_TREE_H */
