/* SPDX-License-Identifier: MIT */
/* origins.c - see origins.h */
#include "tools/control/origins.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MIN 64

/*
 * Grow the array '*rows' of '*count' rows until it has row 'idx'.  New rows are
 * all zeros.  Return false if there is no memory.
 */
static bool
reach(void **rows, size_t *count, size_t idx, size_t row_nbytes)
{
	size_t more = *count == 0 ? ROWS_MIN : *count;
	char *grown;

	if (idx < *count)
		return true;
	while (more <= idx)
		more *= 2;
	grown = reallocarray(*rows, more, row_nbytes);
	if (grown == NULL)
		return false;
	memset(grown + *count * row_nbytes, 0, (more - *count) * row_nbytes);
	*rows = grown;
	*count = more;
	return true;
}

/*
 * Return the list of the origins of a heap's blocks; NULL if there is no
 * memory.
 */
static struct origin_list *
list_of(struct origins *o, uint64_t heap)
{
	uint32_t row = id_rows_find(&o->heaps, heap);
	void *lists = o->lists;
	bool is_fine;

	if (row == ID_ROWS_NONE)
		row = id_rows_add(&o->heaps, heap);
	if (row == ID_ROWS_NONE)
		return NULL;
	is_fine = reach(&lists, &o->list_count, row, sizeof(*o->lists));
	o->lists = lists;
	return is_fine ? &o->lists[row] : NULL;
}

/* Forget the blocks of a heap. */
static void
end_heap(struct origins *o, uint64_t heap)
{
	const uint32_t row = id_rows_find(&o->heaps, heap);

	if (row == ID_ROWS_NONE || row >= o->list_count)
		return;
	free(o->lists[row].rows);
	o->lists[row] = (struct origin_list){ .rows = NULL };
}

static uint64_t
stack_of(const struct hatf_event *e)
{
	const struct hatf_record rec = {
		.tag = e->tag,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
	};

	return hatf_record_stack(&rec);
}

bool
origins_note(struct origins *o, const struct hatf_event *e)
{
	struct origin_list *list;
	void *rows;
	bool is_fine;

	if (e->kind == HATF_EVENT_HEAP_DESTROY)
		end_heap(o, e->heap);
	if ((e->kind != HATF_EVENT_ALLOC && e->kind != HATF_EVENT_REALLOC) ||
	    e->block == 0)
		return true;
	list = list_of(o, e->heap);
	if (list == NULL)
		return false;
	rows = list->rows;
	is_fine = reach(&rows, &list->count, e->block, sizeof(*list->rows));
	list->rows = rows;
	if (!is_fine)
		return false;
	/* A realloc in place does not change the thread of the block. */
	if (e->kind == HATF_EVENT_ALLOC || e->address != e->old_address ||
	    e->inherited)
		list->rows[e->block].thread = e->thread;
	list->rows[e->block].stack = stack_of(e);
	return true;
}

struct origin
origins_find(const struct origins *o, const struct hatf_live *live)
{
	const uint32_t row = id_rows_find(&o->heaps, live->heap);

	if (row == ID_ROWS_NONE || row >= o->list_count ||
	    live->block >= o->lists[row].count)
		return (struct origin){ .stack = 0 };
	return o->lists[row].rows[live->block];
}

void
origins_free(struct origins *o)
{
	for (size_t i = 0; i < o->list_count; i++)
		free(o->lists[i].rows);
	free(o->lists);
	id_rows_free(&o->heaps);
	*o = (struct origins){ .lists = NULL };
}
