/* SPDX-License-Identifier: MIT */
/*
 * heaps.c - see heaps.h
 */
#include "heaps.h"

#include <stdlib.h>

void
heaps_init(struct heaps *heaps, bool strict)
{
	*heaps = (struct heaps){ 0 };
	live_init(&heaps->first.live);
	live_init(&heaps->index);
	ids_init(&heaps->ids, strict);
}

void
heaps_fini(struct heaps *heaps)
{
	for (size_t i = 0; i < heaps->other_count; i++) {
		live_fini(&heaps->others[i]->live);
		free(heaps->others[i]);
	}
	free(heaps->others);
	live_fini(&heaps->first.live);
	live_fini(&heaps->index);
	ids_fini(&heaps->ids);
}

static void
forget(struct live *live)
{
	for (size_t i = 0; i < live->slot_count; i++)
		if (live->keys[i] != 0)
			live->blocks[i] = (struct live_block){
				.size = live->blocks[i].size,
			};
	live->zero = (struct live_block){ .size = live->zero.size };
}

void
heaps_forget(struct heaps *heaps)
{
	forget(&heaps->first.live);
	for (size_t i = 0; i < heaps->other_count; i++)
		forget(&heaps->others[i]->live);
	heaps->peak_count = heaps->live_count;
	heaps->peak_nbytes = heaps->live_nbytes;
}

bool
heaps_keep_forgotten(struct heaps *heaps)
{
	const struct live *const live = &heaps->first.live;
	struct heaps kept;
	bool is_fine = true, replaced;

	heaps_init(&kept, false);
	for (size_t i = 0; i < live->slot_count && is_fine; i++)
		if (live->keys[i] != 0 && live->blocks[i].object == 0)
			is_fine = heaps_put(&kept, &kept.first, live->keys[i],
					    &live->blocks[i], &replaced);
	heaps_fini(heaps);
	*heaps = kept;
	return is_fine;
}

/* Make room in 'others' for one more; it doubles at powers of two. */
static bool
make_room(struct heaps *heaps)
{
	const size_t n = heaps->other_count;
	struct heap **others;

	if ((n & (n - 1)) != 0)
		return true;
	others = reallocarray(heaps->others, n == 0 ? 1 : n * 2,
			      sizeof(struct heap *));
	if (others == NULL)
		return false;
	heaps->others = others;
	return true;
}

struct heap *
heaps_get(struct heaps *heaps, uint64_t id)
{
	if (id == 0)
		return &heaps->first;

	struct live_block *place = live_find(&heaps->index, id);
	struct heap *heap;
	bool added;

	if (place != NULL)
		return heaps->others[place->size];
	heap = calloc(1, sizeof(*heap));
	if (heap == NULL)
		return NULL;
	live_init(&heap->live);
	place = make_room(heaps) ? live_put(&heaps->index, id, &added) : NULL;
	if (place == NULL) {
		free(heap);
		return NULL;
	}
	place->size = heaps->other_count;
	heaps->others[heaps->other_count++] = heap;
	return heap;
}

/* Like heaps_get(), but makes none. */
static struct heap *
find_heap(struct heaps *heaps, uint64_t id)
{
	const struct live_block *place;

	if (id == 0)
		return &heaps->first;
	place = live_find(&heaps->index, id);
	return place != NULL ? heaps->others[place->size] : NULL;
}

void
heaps_sum_forgotten(struct heaps *heaps, uint64_t id, uint64_t *count_ret,
		    uint64_t *nbytes_ret)
{
	const struct heap *const heap = find_heap(heaps, id);
	const struct live *const live = heap != NULL ? &heap->live : NULL;

	*count_ret = *nbytes_ret = 0;
	for (size_t i = 0; live != NULL && i < live->slot_count; i++) {
		if (live->keys[i] == 0 || live->blocks[i].object != 0)
			continue;
		++*count_ret;
		*nbytes_ret += live->blocks[i].size;
	}
}

void
heaps_clear(struct heaps *heaps, uint64_t id)
{
	struct heap *const heap = find_heap(heaps, id);

	if (heap == NULL)
		return;
	heaps->live_count -= live_count(&heap->live);
	heaps->live_nbytes -= heap->nbytes;
	heap->nbytes = 0;
	live_fini(&heap->live);
}

/* Note the largest values; sizes are modulo 2^64 as all of HATF's numbers. */
static void
note_peak(struct heaps *heaps)
{
	if (heaps->live_count > heaps->peak_count)
		heaps->peak_count = heaps->live_count;
	if (heaps->live_nbytes > heaps->peak_nbytes)
		heaps->peak_nbytes = heaps->live_nbytes;
}

bool
heaps_put(struct heaps *heaps, struct heap *heap, uint64_t address,
	  const struct live_block *block, bool *replaced_ret)
{
	bool added;
	struct live_block *const place = live_put(&heap->live, address, &added);

	if (place == NULL)
		return false;
	heap->nbytes += block->size - place->size;
	heaps->live_nbytes += block->size - place->size;
	heaps->live_count += added;
	*place = *block;
	note_peak(heaps);
	*replaced_ret = !added;
	return true;
}

void
heaps_remove(struct heaps *heaps, struct heap *heap, struct live_block *block)
{
	heap->nbytes -= block->size;
	heaps->live_count--;
	heaps->live_nbytes -= block->size;
	live_remove(&heap->live, block);
}

void
heaps_resize(struct heaps *heaps, struct heap *heap, struct live_block *block,
	     uint64_t size)
{
	heap->nbytes += size - block->size;
	heaps->live_nbytes += size - block->size;
	block->size = size;
	note_peak(heaps);
}
