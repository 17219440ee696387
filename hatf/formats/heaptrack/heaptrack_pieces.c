/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_pieces.c - see heaptrack.h
 */
#include "hatf/formats/heaptrack/heaptrack.h"

/* Bytes of the tables, as the source counts their rows. */
static uint64_t
tables_nbytes(const struct heaptrack *h)
{
	return string_table_memory(&h->names) + u64_map_memory(&h->known_ips) +
	       h->row_nbytes;
}

bool
heaptrack_may_grow(struct source *s)
{
	const struct heaptrack *const h = s->ctx;

	if (source_may_keep(s, h->stacks, tables_nbytes(h)))
		return true;
	source_stop(s, HATF_LIMIT, "tables");
	return false;
}

void *
heaptrack_add_row(struct source *s, struct rows *r, size_t row_nbytes)
{
	struct heaptrack *const h = s->ctx;
	const size_t cap = r->cap;
	void *row;

	/* Twice as many rows; that is when it has to be seen to. */
	if (r->count == cap && !heaptrack_may_grow(s))
		return NULL;
	row = rows_add(r, row_nbytes);
	h->row_nbytes += (r->cap - cap) * row_nbytes;
	if (row == NULL)
		source_stop(s, HATF_NO_MEMORY, NULL);
	return row;
}

bool
heaptrack_add_u64(struct source *s, struct rows *r, uint64_t value)
{
	uint64_t *const row = heaptrack_add_row(s, r, sizeof(*row));

	if (row != NULL)
		*row = value;
	return row != NULL;
}

/* Stop for what a table says; false. */
bool
heaptrack_refuse(struct source *s, enum hatf_status status)
{
	source_stop(s, status, NULL);
	return false;
}

bool
heaptrack_add_name(struct source *s, const struct fields *string,
		   uint32_t *number_ret)
{
	struct heaptrack *const h = s->ctx;
	const enum hatf_status status = string_table_put(
		&h->names, string->next, (size_t)(string->end - string->next),
		number_ret);

	return status == HATF_OK || heaptrack_refuse(s, status);
}

const char *
heaptrack_name(const struct heaptrack *h, uint32_t number)
{
	return number == 0 ? NULL : string_table_get(&h->names, number);
}

bool
heaptrack_add_frame(struct source *s, const struct hatf_frame *frame,
		    uint64_t *id_ret)
{
	struct heaptrack *const h = s->ctx;
	const enum hatf_status status =
		hatf_stacks_add_frame(h->stacks, frame, id_ret);

	h->has_news = true;
	return status == HATF_OK || heaptrack_refuse(s, status);
}

bool
heaptrack_add_stack(struct source *s, uint64_t frame, uint64_t *stack)
{
	struct heaptrack *const h = s->ctx;
	const enum hatf_status status =
		hatf_stacks_add(h->stacks, *stack, frame, stack);

	h->has_news = true;
	return status == HATF_OK || heaptrack_refuse(s, status);
}

/* The stack of a trace number, 0 being none. */
bool
heaptrack_find_stack(const struct heaptrack *h, uint64_t trace,
		     uint64_t *stack_ret)
{
	const uint64_t *const stacks = h->traces.rows;

	*stack_ret = 0;
	if (trace > h->traces.count)
		return false;
	if (trace != 0)
		*stack_ret = stacks[trace - 1];
	return true;
}

void
heaptrack_tell_header(struct source *s, enum told what, const uint8_t *value,
		      size_t nbytes)
{
	static const char *const keys[] = {
		[TOLD_COMMAND] = "command",	[TOLD_EXE] = "exe",
		[TOLD_PAGE_SIZE] = "page_size", [TOLD_PAGES] = "page_count",
		[TOLD_RAW] = "heaptrack",	[TOLD_START] = "start"
	};
	struct heaptrack *const h = s->ctx;

	if (h->has_record || (h->told & 1u << what) != 0)
		return;
	h->told |= 1u << what;
	source_header(s, keys[what], (const char *)value, nbytes);
}
