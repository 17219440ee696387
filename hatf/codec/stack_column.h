/* SPDX-License-Identifier: MIT */
/*
 * stack_column.h - write the column of stacks of a trace block
 *
 * The attribute STACK of a record takes 3 to 5 bytes, and makes the attributes
 * field change its width from record to record.  The encoder therefore takes
 * the stacks out of the records, and puts them in one comment in front of them
 * (FORMAT "Columns of stacks"): less than a byte for each allocation.
 *
 * A column belongs to one encoder, under the rules of encoder.h.  All of it is
 * 0 before the first use.
 */
#ifndef HATF_STACK_COLUMN_H
#define HATF_STACK_COLUMN_H

#include "hatf/codec/stack_model.h"

/* The first line of the comment. */
#define STACK_COLUMN_KIND "HATF stacks\n"

/* The longest text of the comment: that of any comment. */
#define STACK_COLUMN_MAX 65535

/* Codes of entries; from STACK_STORED on, the numbers of stored ids. */
enum stack_code {
	STACK_NONE,    /* no stack */
	STACK_LITERAL, /* an id, as the difference from the last one of these */
	STACK_STORED
};

/* Places of stacks by their ids: the last that was stored of some. */
#define STACK_COLUMN_PLACES 16384

struct stack_column {
	bool is_active; /* records are being added */
	bool has_frees; /* the next column will have entries for frees */
	size_t used;	/* bytes of 'text' */
	uint32_t run;	/* records predicted since the last stored entry */
	uint32_t stored_count;	/* ids stored as differences in this column */
	uint32_t stored_before; /* the same, in the columns before */
	struct stack_model model;
	uint8_t text[STACK_COLUMN_MAX];
	/* 'number' is 'stored_before' plus the id's number, from 1. */
	struct {
		uint32_t id, number;
	} places[STACK_COLUMN_PLACES];
};

/* Begin with no records. */
void stack_column_begin(struct stack_column *c);

/*
 * Add the next record, whose tag is below 11.  If the column takes its stack,
 * shorten its attributes by the last item, STACK.  Other stacks stay where they
 * are.
 */
void stack_column_add(struct stack_column *c, struct hatf_record *rec);

/* Has the record a stack that a column could take? */
bool stack_column_wants(const struct hatf_record *rec);

/* Should the caller end the column soon, since it is nearly full? */
static inline bool
stack_column_is_nearly_full(const struct stack_column *c)
{
	return c->is_active && c->used > STACK_COLUMN_MAX - 4096;
}

/* End the column.  Its comment is then text[0, used). */
void stack_column_end(struct stack_column *c);

#endif /* HATF_STACK_COLUMN_H */
