/* SPDX-License-Identifier: MIT */
/* heap_model.c - see heap_model.h */
#include "tools/model/heap_model.h"

#include <errno.h>
#include <stdlib.h>

#define STEP  16
#define PAGE  4096
#define LIMIT ((uint64_t)1 << 63)

static uint64_t
round_up(uint64_t size, uint64_t step)
{
	return (size + step - 1) / step * step;
}

bool
heap_model_open(struct heap_model *m, const struct model *model,
		uint64_t slot_count)
{
	*m = (struct heap_model){ .model = model };
	holes_init(&m->holes, model->kind == MODEL_BEST_FIT);
	u64_map_init(&m->free_counts);
	m->blocks = calloc(slot_count + 1, sizeof(*m->blocks));
	return m->blocks != NULL;
}

void
heap_model_close(struct heap_model *m)
{
	holes_fini(&m->holes);
	u64_map_fini(&m->free_counts);
	free(m->blocks);
}

void
heap_model_restart(struct heap_model *m)
{
	m->peak_nbytes = m->heap_nbytes;
	m->peak_taken_nbytes = m->taken_nbytes;
	m->moved_count = 0;
}

/* Update the totals for a block that takes 'taken' bytes instead of 'old'. */
static void
count_taken(struct heap_model *m, uint64_t old, uint64_t taken)
{
	m->taken_nbytes += taken - old;
	if (m->taken_nbytes > m->peak_taken_nbytes)
		m->peak_taken_nbytes = m->taken_nbytes;
	if (m->heap_nbytes > m->peak_nbytes)
		m->peak_nbytes = m->heap_nbytes;
}

/* Fail because a block or the heap would be too large. */
static bool
refuse(void)
{
	errno = EOVERFLOW;
	return false;
}

/* Grow the heap at its end. */
static bool
grow(struct heap_model *m, uint64_t nbytes)
{
	if (nbytes > LIMIT - m->heap_nbytes)
		return refuse();
	m->heap_nbytes += nbytes;
	return true;
}

/* --------------------------------------------------------------------- fits */

/* Take the first 'nbytes' of a hole. */
static bool
take_hole(struct heap_model *m, struct hole hole, uint64_t nbytes)
{
	const struct hole rest = { hole.start + nbytes, hole.size - nbytes };

	holes_remove(&m->holes, hole);
	return rest.size == 0 || holes_add(&m->holes, rest);
}

static bool
place(struct heap_model *m, uint64_t taken, uint64_t *start_ret)
{
	const struct hole hole = holes_find(&m->holes, taken);

	if (hole.size != 0) {
		*start_ret = hole.start;
		return take_hole(m, hole, taken);
	}
	*start_ret = m->heap_nbytes;
	return grow(m, taken);
}

/*
 * Make a part of the heap a hole, and join adjacent holes.  A hole at the end
 * of the heap shortens the heap instead.
 */
static bool
release(struct heap_model *m, struct hole part)
{
	const struct hole before = holes_before(&m->holes, part.start);
	const struct hole after = holes_at(&m->holes, part.start + part.size);

	if (before.size != 0)
		holes_remove(&m->holes, before);
	if (after.size != 0)
		holes_remove(&m->holes, after);
	part.start -= before.size;
	part.size += before.size + after.size;
	if (part.start + part.size != m->heap_nbytes)
		return holes_add(&m->holes, part);
	m->heap_nbytes = part.start;
	return true;
}

/*
 * Resize a block in its place.  Return false if there is no room.  Otherwise
 * return true, and set '*ok_ret' to whether the resize succeeded: it fails if
 * there is no memory, or if the heap would exceed LIMIT.
 */
static bool
resize_in_place(struct heap_model *m, struct model_block *b, uint64_t taken,
		bool *ok_ret)
{
	const uint64_t end = b->start + b->taken;
	const struct hole after = holes_at(&m->holes, end);

	*ok_ret = true;
	if (taken < b->taken)
		*ok_ret = release(
			m, (struct hole){ b->start + taken, b->taken - taken });
	else if (end == m->heap_nbytes)
		*ok_ret = grow(m, taken - b->taken);
	else if (after.size >= taken - b->taken)
		*ok_ret = taken == b->taken ||
			  take_hole(m, after, taken - b->taken);
	else
		return false;
	return true;
}

/* --------------------------------------------------------------- segregated */

/*
 * Return the smallest size class that holds 'size' bytes.  Return 0 if there is
 * none, or if the class exceeds half a chunk.
 */
static uint64_t
class_of(const struct model *model, uint64_t size)
{
	unsigned first = 0, end = model->class_count;

	while (first < end) {
		const unsigned middle = (first + end) / 2;

		if (model->classes[middle] < size)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == model->class_count ||
	    model->classes[first] > MODEL_CHUNK_NBYTES / 2)
		return 0;
	return model->classes[first];
}

static bool
is_class(const struct heap_model *m, uint64_t taken)
{
	return class_of(m->model, taken) == taken;
}

/*
 * Take a free block of a class.  If there is none, cut blocks from a new chunk.
 */
static bool
take_of_class(struct heap_model *m, uint64_t class)
{
	bool added;
	struct u64_map_entry *const e =
		u64_map_put(&m->free_counts, class, &added);

	if (e == NULL)
		return false;
	if (e->value == 0) {
		if (!grow(m, MODEL_CHUNK_NBYTES))
			return false;
		e->value = MODEL_CHUNK_NBYTES / class;
	}
	e->value--;
	return true;
}

static void
release_segregated(struct heap_model *m, uint64_t taken)
{
	if (is_class(m, taken))
		u64_map_find(&m->free_counts, taken)->value++;
	else
		m->heap_nbytes -= taken;
}

/* -------------------------------------------------------------------- calls */

/* Return the bytes that a block of 'size' bytes takes. */
static uint64_t
taken_of(const struct heap_model *m, uint64_t size)
{
	const uint64_t asked = size != 0 ? size : 1;
	uint64_t class;

	if (m->model->kind != MODEL_SEGREGATED)
		return round_up(asked, STEP);
	class = class_of(m->model, asked);
	return class != 0 ? class : round_up(asked, PAGE);
}

bool
heap_model_alloc(struct heap_model *m, uint32_t slot, uint64_t size)
{
	struct model_block *const b = &m->blocks[slot];
	bool ok;

	if (size > LIMIT / 2)
		return refuse();
	b->taken = taken_of(m, size);
	if (m->model->kind != MODEL_SEGREGATED)
		ok = place(m, b->taken, &b->start);
	else if (is_class(m, b->taken))
		ok = take_of_class(m, b->taken);
	else
		ok = grow(m, b->taken);
	if (ok)
		count_taken(m, 0, b->taken);
	return ok;
}

bool
heap_model_free(struct heap_model *m, uint32_t slot)
{
	struct model_block *const b = &m->blocks[slot];
	const struct hole part = { b->start, b->taken };

	if (b->taken == 0)
		return true;
	count_taken(m, b->taken, 0);
	b->taken = 0;
	if (m->model->kind != MODEL_SEGREGATED)
		return release(m, part);
	release_segregated(m, part.size);
	return true;
}

bool
heap_model_resize(struct heap_model *m, uint32_t slot, uint64_t size)
{
	struct model_block *const b = &m->blocks[slot];
	const struct model_block old = *b;
	bool ok;

	if (size > LIMIT / 2)
		return refuse();
	if (old.taken == 0)
		return heap_model_alloc(m, slot, size);
	if (taken_of(m, size) == old.taken)
		return true;
	if (m->model->kind != MODEL_SEGREGATED &&
	    resize_in_place(m, b, taken_of(m, size), &ok)) {
		b->taken = taken_of(m, size);
		count_taken(m, old.taken, b->taken);
		return ok;
	}
	m->moved_count++;
	if (!heap_model_alloc(m, slot, size))
		return false;
	count_taken(m, old.taken, 0);
	if (m->model->kind != MODEL_SEGREGATED)
		return release(m, (struct hole){ old.start, old.taken });
	release_segregated(m, old.taken);
	return true;
}
