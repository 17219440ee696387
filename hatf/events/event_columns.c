/* SPDX-License-Identifier: MIT */
/* event_columns.c - see hatf_events_read_columns() */
#include "hatf/base/sized.h"
#include "hatf/events/events.h"

#include <string.h>

/* hatf_events_read_columns() reads at most this many events at a time. */
#define BATCH 256

/*
 * Return a record with the tag and attributes of an event; its other fields are
 * 0.
 */
static struct hatf_record
record_of(const struct hatf_event *e)
{
	return (struct hatf_record){
		.tag = e->kind == HATF_EVENT_COMMENT ? HATF_COMMENT : e->tag,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
	};
}

static uint8_t
flags_of(const struct hatf_event *e)
{
	const bool is_new =
		e->kind == HATF_EVENT_ALLOC ||
		(e->kind == HATF_EVENT_REALLOC && e->tag != HATF_REALLOC_FREE);

	return (uint8_t)((e->inherited ? HATF_COLUMN_INHERITED : 0) |
			 (e->carried ? HATF_COLUMN_CARRIED : 0) |
			 (e->violation != HATF_VIOLATION_NONE
				  ? HATF_COLUMN_VIOLATION
				  : 0) |
			 (is_new && e->address == 0 ? HATF_COLUMN_FAILED : 0));
}

/* Store an event in row 'row' of the columns that the caller wants. */
static void
put_row(const struct hatf_event_columns *c, size_t row,
	const struct hatf_event *e)
{
	const struct {
		uint64_t *column, value;
	} fields[] = {
		{ c->time, e->time },
		{ c->thread, e->thread },
		{ c->heap, e->heap },
		{ c->address, e->address },
		{ c->size, e->size },
		{ c->old_address, e->old_address },
		{ c->old_size, e->old_size },
		{ c->object, e->object },
	};

	const struct hatf_record rec = record_of(e);

	if (c->kind != NULL)
		c->kind[row] = (uint8_t)e->kind;
	if (c->flags != NULL)
		c->flags[row] = flags_of(e);
	if (c->stack != NULL)
		c->stack[row] = hatf_record_stack(&rec);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].column != NULL)
			fields[i].column[row] = fields[i].value;
}

/*
 * If a comment defines a frame or stack, add the definition to 'stacks'.
 * Return false if there is no memory.
 */
static bool
note_definition(struct hatf_stacks *stacks, const struct hatf_event *e)
{
	const struct hatf_record rec = record_of(e);

	return hatf_stacks_note(stacks, &rec, NULL) != HATF_NO_MEMORY;
}

enum hatf_status
hatf_events_read_columns(struct hatf_events *events,
			 const struct hatf_event_columns *columns, size_t first,
			 size_t max, size_t *n_ret)
{
	struct hatf_event batch[BATCH];
	struct hatf_event_columns c;
	size_t rows = 0;

	*n_ret = 0;
	if (!sized_take(&c, sizeof(c), columns) || c.reserved[0] != 0 ||
	    c.reserved[1] != 0)
		return HATF_BAD_OPTION;
	while (rows < max) {
		const size_t left = max - rows;
		size_t n;
		const enum hatf_status status = hatf_events_read(
			events, batch, left < BATCH ? left : BATCH, &n);

		if (status != HATF_OK) {
			*n_ret = rows;
			/*
			 * If some events were read before an error or the end
			 * of the trace, return these events; the next call
			 * returns 'status'.
			 */
			return rows != 0 ? HATF_OK : status;
		}
		for (size_t i = 0; i < n; i++)
			if (batch[i].kind != HATF_EVENT_COMMENT)
				put_row(&c, first + rows++, &batch[i]);
			else if (c.stacks != NULL &&
				 !note_definition(c.stacks, &batch[i]))
				return HATF_NO_MEMORY;
	}
	*n_ret = rows;
	return HATF_OK;
}
