/* SPDX-License-Identifier: MIT */
/*
 * stack_entries.h - read the column of stacks of a trace block
 *
 * The counterpart of hatf/codec/stack_column.h: it gives records the attribute
 * STACK that the writer has put into a comment (FORMAT "Columns of stacks").
 *
 * One thread uses an object.  Nothing here allocates.
 */
#ifndef HATF_STACK_ENTRIES_H
#define HATF_STACK_ENTRIES_H

#include "hatf/codec/stack_column.h"

/* The most ids that a column can store: an entry has at least three bytes. */
#define STACK_ENTRIES_STORED_MAX (STACK_COLUMN_MAX / 3)

/* Key and longest number of an item STACK of a column. */
#define STACK_ENTRIES_ITEM_NBYTES 6

struct stack_entries {
	bool is_active;	  /* there are entries left */
	size_t next, end; /* of 'text' */
	uint32_t run;	  /* records left that the model predicts */
	uint32_t stored_count;
	uint32_t stored[STACK_ENTRIES_STORED_MAX];
	struct stack_model model;
	uint8_t text[STACK_COLUMN_MAX];
};

/* Is it the comment of a column? */
bool stack_entries_is_column(const struct hatf_record *comment);

/*
 * Begin a column: its entries belong to the records after the comment.  Return
 * false if the column is malformed; then there is none.
 */
bool stack_entries_begin(struct stack_entries *s,
			 const struct hatf_record *comment);

/*
 * Return the stack of the next record after the comment, 0 if it has none in
 * the column.  Call it for each record with a tag below 10, while the column is
 * active.
 */
uint32_t stack_entries_next(struct stack_entries *s,
			    const struct hatf_record *rec);

/*
 * Append the item STACK to the attributes of a record.  The result is at 'buf',
 * which has room for the attributes and STACK_ENTRIES_ITEM_NBYTES; return its
 * length.  Leave attributes that have no room for the item, and return 0.
 */
size_t stack_entries_append(struct hatf_record *rec, uint32_t stack,
			    uint8_t *buf);

#endif /* HATF_STACK_ENTRIES_H */
