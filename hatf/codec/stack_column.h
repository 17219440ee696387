/* SPDX-License-Identifier: MIT */
/*
 * stack_column.h - write the column of stacks of a trace block
 *
 * The attribute STACK of a record usually takes 3 to 5 bytes, and makes the
 * attributes field change its width from record to record.  The encoder
 * therefore takes the stacks out of the records, and puts them into one comment
 * before these records (FORMAT "Columns of stacks").  In the column, the stack
 * of an allocation usually takes less than a byte.
 *
 * A column belongs to one encoder, under the rules of encoder.h.  The caller
 * sets all of it to 0 before the first use.
 */
#ifndef HATF_STACK_COLUMN_H
#define HATF_STACK_COLUMN_H

#include "hatf/codec/stack_model.h"

/* The first line of the comment that contains a column. */
#define STACK_COLUMN_KIND "HATF stacks\n"

/* Maximum length of the comment's text; no comment of HATF can be longer. */
#define STACK_COLUMN_MAX 65535

/*
 * An entry of a column begins with a code.  A code n >= STACK_STORED repeats
 * the id of an earlier STACK_LITERAL entry of this column: the entry with index
 * n - STACK_STORED among the STACK_LITERAL entries, from 0.
 */
enum stack_code {
	STACK_NONE, /* the record has no stack */
	/*
	 * an id follows, as the difference from the previous id with this code
	 */
	STACK_LITERAL,
	STACK_STORED
};

/*
 * Number of slots in a hash table of stack ids.  Of all ids whose hash leads to
 * a slot, the slot contains the id that was stored last.
 */
#define STACK_COLUMN_PLACES 16384

struct stack_column {
	bool is_active; /* the column has begun and has not ended */
	bool has_frees; /* the next column will have values for frees */
	size_t used;	/* length of 'text' in bytes */
	/* number of values, all predicted by the model, since the last entry */
	uint32_t run;
	/* number of entries STACK_LITERAL in this column */
	uint32_t stored_count;
	/*
	 * sum of 'stored_count' over the earlier columns, since 'places' was
	 * last cleared
	 */
	uint32_t stored_before;
	struct stack_model model;
	uint8_t text[STACK_COLUMN_MAX];
	/*
	 * The slots of a hash table of ids.  Each id has been stored by a
	 * STACK_LITERAL entry of this column or of an earlier one.  'number'
	 * counts these entries through all columns: it is 'stored_before' of
	 * the entry's column plus the number of the entry in this column, from
	 * 1.  So the present column has stored the id if 'number' is above the
	 * present 'stored_before'.
	 */
	struct {
		uint32_t id, number;
	} places[STACK_COLUMN_PLACES];
};

/* Begin a column without records. */
void stack_column_begin(struct stack_column *c);

/*
 * Add the next record, whose tag is below 11.  If the column takes the record's
 * stack, remove the last item, STACK, from the attributes.  A stack that the
 * column does not take stays in the attributes.
 */
void stack_column_add(struct stack_column *c, struct hatf_record *rec);

/* Does the record have a stack that a column could take? */
bool stack_column_wants(const struct hatf_record *rec);

/*
 * Write an entry for the stack 'id' of the next record.  The caller has found
 * that the model does not predict this stack.
 */
void stack_column_put_entry(struct stack_column *c, uint32_t id);

/*
 * Store the stack 'id' of the next record, a record of 'thread'.  The record
 * must have a value in the column (see stack_model_has_entry()).
 */
static inline void
stack_column_add_stack(struct stack_column *c, uint64_t thread, uint32_t id)
{
	const struct stack_model_place place =
		stack_model_find(&c->model, thread);

	if (id == stack_model_predict(&place))
		c->run++;
	else
		stack_column_put_entry(c, id);
	stack_model_note(&place, id);
}

/* Should the caller end the column soon, since it is nearly full? */
static inline bool
stack_column_is_nearly_full(const struct stack_column *c)
{
	return c->is_active && c->used > STACK_COLUMN_MAX - 4096;
}

/*
 * Can the caller pass the stacks of the next few hundred allocs directly to
 * stack_column_add_stack(), without stack_column_add()?  Return false if frees
 * have values in the column.
 */
static inline bool
stack_column_takes_allocs(const struct stack_column *c)
{
	return c->is_active && !stack_column_is_nearly_full(c) &&
	       !c->model.has_frees && !c->model.pairing.alloc_expected &&
	       !c->model.pairing.free_expected;
}

/* End the column.  The text of its comment is text[0, used). */
void stack_column_end(struct stack_column *c);

#endif /* HATF_STACK_COLUMN_H */
