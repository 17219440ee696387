/* SPDX-License-Identifier: MIT */
/*
 * stack_entries.h - read the column of stacks of a trace block
 *
 * The counterpart of hatf/codec/stack_column.h.  The encoder moved the items
 * STACK from the attributes of records into one comment (FORMAT "Columns of
 * stacks"); these functions move the items back.
 *
 * Only one thread may use a 'struct stack_entries'.  Nothing here allocates.
 */
#ifndef HATF_STACK_ENTRIES_H
#define HATF_STACK_ENTRIES_H

#include "hatf/codec/stack_column.h"

/*
 * Upper bound of the number of ids that a column stores.  An entry that stores
 * a new id takes at least three bytes, with the run after it.
 */
#define STACK_ENTRIES_STORED_MAX (STACK_COLUMN_MAX / 3)

/* Maximum length of an item STACK of a column: its key and its number. */
#define STACK_ENTRIES_ITEM_NBYTES 6

struct stack_entries {
	bool is_active; /* the column may have values left */
	/* positions in 'text': of the next entry, and of the end */
	size_t next, end;
	/* how many of the next values are as the model predicts */
	uint32_t run;
	uint32_t stored_count;
	uint32_t stored[STACK_ENTRIES_STORED_MAX];
	struct stack_model model;
	uint8_t text[STACK_COLUMN_MAX];
};

/* Does the comment contain a column of stacks? */
bool stack_entries_is_column(const struct hatf_record *comment);

/*
 * Begin a column, whose values are the stacks of the records after the comment.
 * Return false, with 'is_active' cleared, if the column is malformed.
 */
bool stack_entries_begin(struct stack_entries *s,
			 const struct hatf_record *comment);

/*
 * Return the stack that the column has for 'rec', or 0 if it has none.  Call
 * this function for every record after the comment, in order, except comments
 * and metadata, as long as 'is_active' is set.  The function clears 'is_active'
 * when the values are used up.
 */
uint32_t stack_entries_next(struct stack_entries *s,
			    const struct hatf_record *rec);

/*
 * Append the item STACK to the attributes of a record.  Store the new
 * attributes at 'buf', which must have room for the old attributes and for
 * STACK_ENTRIES_ITEM_NBYTES more, and return the length of the new attributes.
 * If STACK_ENTRIES_ITEM_NBYTES more bytes would exceed the maximum of 65535
 * bytes of attributes, change nothing and return 0.
 */
size_t stack_entries_append(struct hatf_record *rec, uint32_t stack,
			    uint8_t *buf);

#endif /* HATF_STACK_ENTRIES_H */
