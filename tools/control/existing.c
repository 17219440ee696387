/* SPDX-License-Identifier: MIT */
/* existing.c - see existing.h */
#include "tools/control/existing.h"

#include "tools/symbols/comment.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MIN 16

static const uint8_t only_carried[] = { HATF_ATTR_CARRIED };

/* ------------------------------------------------------------------ keeping */

/* Make room for the row with this index; false if there is no memory. */
static bool
make_room(struct existing_list *list, uint32_t idx)
{
	const uint32_t cap = list->cap == 0 ? ROWS_MIN : 2 * list->cap;
	struct existing_row *rows;
	uint64_t *ids;

	if (idx < list->cap)
		return true;
	rows = reallocarray(list->rows, cap, sizeof(*rows));
	if (rows == NULL)
		return false;
	list->rows = rows;
	ids = reallocarray(list->row_ids, cap, sizeof(*ids));
	if (ids == NULL)
		return false;
	list->row_ids = ids;
	memset(rows + list->cap, 0, (cap - list->cap) * sizeof(*rows));
	list->cap = cap;
	return true;
}

/*
 * Return the row of an id.  Add a row if the id has none.  Return NULL if there
 * is no memory.
 */
static struct existing_row *
add(struct existing_list *list, uint64_t id)
{
	uint32_t idx = id_rows_find(&list->ids, id);

	if (idx != ID_ROWS_NONE)
		return &list->rows[idx];
	if (!make_room(list, list->ids.count))
		return NULL;
	idx = id_rows_add(&list->ids, id);
	if (idx == ID_ROWS_NONE)
		return NULL;
	list->row_ids[idx] = id;
	return &list->rows[idx];
}

static struct existing_row *
find(const struct existing_list *list, uint64_t id)
{
	const uint32_t idx = id_rows_find(&list->ids, id);

	return idx == ID_ROWS_NONE ? NULL : &list->rows[idx];
}

static void
forget(struct existing_row *row)
{
	free(row->attributes.bytes);
	free(row->name.bytes);
	*row = (struct existing_row){ .exists = false };
}

/*
 * Replace the bytes in 'b' by a copy of 'head' followed by 'rest'.  If 'rest'
 * has more than EXISTING_NBYTES_MAX bytes, leave 'b' empty.
 */
static bool
set_bytes(struct existing_bytes *b, const uint8_t *head, uint32_t head_nbytes,
	  const uint8_t *rest, uint32_t nbytes)
{
	free(b->bytes);
	*b = (struct existing_bytes){ .bytes = NULL };
	if (nbytes > EXISTING_NBYTES_MAX)
		return true;
	b->bytes = malloc(head_nbytes + nbytes + 1);
	if (b->bytes == NULL)
		return false;
	memcpy(b->bytes, head, head_nbytes);
	if (nbytes != 0)
		memcpy(b->bytes + head_nbytes, rest, nbytes);
	b->nbytes = head_nbytes + nbytes;
	return true;
}

/* Note that a thread or a heap has been created. */
static bool
create(struct existing_list *list, uint64_t id, const struct hatf_event *e)
{
	struct existing_row *const row = add(list, id);
	const bool is_carried = e->attributes_nbytes != 0 &&
				e->attributes[0] == HATF_ATTR_CARRIED;

	if (row == NULL)
		return false;
	forget(row);
	row->exists = true;
	return set_bytes(&row->attributes, only_carried, !is_carried,
			 e->attributes, e->attributes_nbytes);
}

/* Keep the name of a thread that exists.  Thread 0 always exists. */
static bool
keep_name(struct existing_list *list, const struct hatf_event *e)
{
	const struct hatf_record rec = {
		.tag = HATF_COMMENT,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
	};
	struct existing_row *row;
	uint64_t id;

	if (!comment_is(&rec, "HATF thread\n"))
		return true;
	id = comment_number(&rec, "thread");
	row = id == 0 ? add(list, 0) : find(list, id);
	if (row == NULL)
		return id != 0;
	return (id != 0 && !row->exists) ||
	       set_bytes(&row->name, only_carried, 0, e->attributes,
			 e->attributes_nbytes);
}

bool
existing_note(struct existing *x, const struct hatf_event *e)
{
	struct existing_row *row = NULL;

	switch (e->kind) {
	case HATF_EVENT_THREAD_CREATE:
		return create(&x->threads, e->thread, e);
	case HATF_EVENT_HEAP_CREATE:
		return create(&x->heaps, e->heap, e);
	case HATF_EVENT_THREAD_DESTROY:
		row = find(&x->threads, e->thread);
		break;
	case HATF_EVENT_HEAP_DESTROY:
		row = find(&x->heaps, e->heap);
		break;
	case HATF_EVENT_COMMENT:
		return keep_name(&x->threads, e);
	default:
		break;
	}
	if (row != NULL)
		forget(row);
	return true;
}

static void
free_list(struct existing_list *list)
{
	for (uint32_t i = 0; i < list->ids.count; i++)
		forget(&list->rows[i]);
	free(list->rows);
	free(list->row_ids);
	id_rows_free(&list->ids);
}

void
existing_free(struct existing *x)
{
	free_list(&x->threads);
	free_list(&x->heaps);
	*x = (struct existing){ .threads = { .rows = NULL } };
}

/* ------------------------------------------------------------------ writing */

/* Set the attributes of a carried record. */
static void
set_attributes(struct hatf_record *rec, const struct existing_row *row)
{
	rec->attributes = only_carried;
	rec->attributes_nbytes = sizeof(only_carried);
	if (row == NULL || row->attributes.nbytes == 0)
		return;
	rec->attributes = row->attributes.bytes;
	rec->attributes_nbytes = row->attributes.nbytes;
}

void
existing_write_threads(const struct existing *x, uint64_t time,
		       struct hatf_writer *writer)
{
	const struct existing_list *const list = &x->threads;

	for (uint32_t i = 0; i < list->ids.count; i++) {
		const struct existing_row *const row = &list->rows[i];
		struct hatf_record rec = {
			.tag = HATF_CREATE_THREAD,
			.thread = list->row_ids[i],
			.time = time,
		};
		const struct hatf_record name = {
			.tag = HATF_COMMENT,
			.attributes = row->name.bytes,
			.attributes_nbytes = row->name.nbytes,
		};

		set_attributes(&rec, row);
		if (row->exists)
			hatf_writer_write(writer, &rec, 1);
		if (row->name.nbytes != 0)
			hatf_writer_write(writer, &name, 1);
	}
}

void
existing_write_heap(const struct existing *x, uint64_t heap, uint64_t time,
		    struct hatf_writer *writer)
{
	struct hatf_record rec = {
		.tag = HATF_CREATE_HEAP,
		.heap = heap,
		.time = time,
	};

	set_attributes(&rec, find(&x->heaps, heap));
	hatf_writer_write(writer, &rec, 1);
}
