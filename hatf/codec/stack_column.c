/* SPDX-License-Identifier: MIT */
/* stack_column.c - see stack_column.h and FORMAT "Columns of stacks" */
#include "hatf/codec/stack_column.h"

/*
 * Upper bound of the length of a run and the entry after it: at most three
 * ULEB128 numbers below 2^32, of up to 5 bytes each.
 */
#define ENTRY_NBYTES 16

static void
put_number(struct stack_column *c, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		c->text[c->used++] = (uint8_t)(n | 0x80);
	c->text[c->used++] = (uint8_t)n;
}

void
stack_column_begin(struct stack_column *c)
{
	/*
	 * Make 'stored_before' at least as large as every 'number' in 'places',
	 * so that no id counts as stored in the new column.  Here,
	 * 'stored_count' still belongs to the previous column, even if that
	 * column never ended because its block was cancelled.
	 */
	c->stored_before += c->stored_count;
	if (c->stored_before > UINT32_MAX / 2) {
		memset(c->places, 0, sizeof(c->places));
		c->stored_before = 0;
	}
	stack_model_init(&c->model, c->has_frees);
	memcpy(c->text, STACK_COLUMN_KIND, sizeof(STACK_COLUMN_KIND) - 1);
	c->used = sizeof(STACK_COLUMN_KIND) - 1;
	c->text[c->used++] = c->has_frees;
	c->run = 0;
	c->stored_count = 0;
	c->is_active = true;
}

/*
 * Return the stack of a record, and store the length of the item STACK in
 * '*nbytes_ret'.  Return 0 if the record has no stack that the column can take.
 * The stack must be the last item of the attributes.  Its number must have the
 * shortest ULEB128 form, so that a reader that appends the item from the column
 * restores the same bytes.
 */
static uint32_t
last_stack(const struct hatf_record *rec, uint32_t *nbytes_ret)
{
	const uint8_t *next = rec->attributes, *start = next, *end;
	struct hatf_attr_item item = { 0 };

	if (rec->attributes_nbytes == 0)
		return 0;
	end = next + rec->attributes_nbytes;
	while (next != end) {
		start = next;
		if (!hatf_attr_next(&next, end, &item))
			return 0;
	}
	/*
	 * Refuse a ULEB128 number that is longer than necessary.  Such a number
	 * ends with a byte of 0.
	 */
	if (item.key != HATF_ATTR_STACK || item.value > UINT32_MAX ||
	    end[-1] == 0)
		return 0;
	*nbytes_ret = (uint32_t)(end - start);
	return (uint32_t)item.value;
}

bool
stack_column_wants(const struct hatf_record *rec)
{
	uint32_t nbytes;

	return rec->tag <= HATF_REALLOC_FREE && last_stack(rec, &nbytes) != 0;
}

void
stack_column_put_entry(struct stack_column *c, uint32_t id)
{
	const uint32_t difference = id - c->model.literal;
	uint32_t *const number = &c->places[id % STACK_COLUMN_PLACES].number;
	uint32_t *const owner = &c->places[id % STACK_COLUMN_PLACES].id;

	put_number(c, c->run);
	c->run = 0;
	if (id == 0) {
		put_number(c, STACK_NONE);
	} else if (*owner == id && *number > c->stored_before) {
		put_number(c, (uint64_t)STACK_STORED + *number -
				      c->stored_before - 1);
	} else {
		put_number(c, STACK_LITERAL);
		/* Store the sign in the lowest bit. */
		put_number(c, difference >> 31 != 0
				      ? (uint64_t)~difference << 1 | 1
				      : (uint64_t)difference << 1);
		c->model.literal = id;
		*owner = id;
		*number = c->stored_before + ++c->stored_count;
	}
}

void
stack_column_add(struct stack_column *c, struct hatf_record *rec)
{
	uint32_t nbytes = 0, id;

	if (rec->tag == HATF_FREE && rec->attributes_nbytes != 0 &&
	    !c->has_frees && stack_column_wants(rec))
		c->has_frees = true;
	/* Once the column is full, it takes no further records. */
	if (c->used > STACK_COLUMN_MAX - 2 * ENTRY_NBYTES ||
	    !stack_model_has_entry(&c->model, rec))
		return;
	id = last_stack(rec, &nbytes);
	stack_column_add_stack(c, rec->thread, id);
	rec->attributes_nbytes -= nbytes;
}

void
stack_column_end(struct stack_column *c)
{
	put_number(c, c->run);
	c->is_active = false;
}
