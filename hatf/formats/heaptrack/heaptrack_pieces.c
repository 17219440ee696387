/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_pieces.c - see heaptrack.h
 */
#include "hatf/formats/heaptrack/heaptrack.h"

/*
 * Return how many bytes the tables take.  Do not count h->stacks, which
 * source_may_keep() counts, nor the tables of objects, which have limits of
 * their own.
 */
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

	/*
	 * If the array is full, rows_add() doubles its size, so check the limit
	 * first.
	 */
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

bool
heaptrack_fail(struct source *s, enum hatf_status status)
{
	source_stop(s, status, NULL);
	return false;
}

bool
heaptrack_add_name(struct source *s, const struct heaptrack_fields *string,
		   uint32_t *number_ret)
{
	struct heaptrack *const h = s->ctx;
	const enum hatf_status status = string_table_put(
		&h->names, string->next, (size_t)(string->end - string->next),
		number_ret);

	return status == HATF_OK || heaptrack_fail(s, status);
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

	h->has_definitions = true;
	return status == HATF_OK || heaptrack_fail(s, status);
}

bool
heaptrack_add_stack(struct source *s, uint64_t frame, uint64_t *stack)
{
	struct heaptrack *const h = s->ctx;
	const enum hatf_status status =
		hatf_stacks_add(h->stacks, *stack, frame, stack);

	h->has_definitions = true;
	return status == HATF_OK || heaptrack_fail(s, status);
}

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
heaptrack_put_header(struct source *s, enum heaptrack_header what,
		     const uint8_t *value, size_t nbytes)
{
	static const char *const keys[] = {
		[HEAPTRACK_HEADER_COMMAND] = "command",
		[HEAPTRACK_HEADER_EXE] = "exe",
		[HEAPTRACK_HEADER_PAGE_SIZE] = "page_size",
		[HEAPTRACK_HEADER_PAGE_COUNT] = "page_count",
		[HEAPTRACK_HEADER_RAW] = "heaptrack",
		[HEAPTRACK_HEADER_START] = "start"
	};
	struct heaptrack *const h = s->ctx;

	if (h->has_record || (h->header_lines & 1u << what) != 0)
		return;
	h->header_lines |= 1u << what;
	source_header(s, keys[what], (const char *)value, nbytes);
}
