/* SPDX-License-Identifier: MIT */
/*
 * heaps.c - see heaps.h
 */
#include "hatf/containers/heaps.h"

#include <stdlib.h>

void
heaps_init(struct heaps *heaps, bool strict)
{
	*heaps = (struct heaps){ 0 };
	block_set_init(&heaps->first.live);
	u64_map_init(&heaps->index);
	ids_init(&heaps->ids, strict);
}

bool
heaps_number_blocks(struct heaps *heaps)
{
	if (heaps->numbers_blocks)
		return true;
	if (heaps->live_count != 0 || heaps->other_count != 0 ||
	    heaps->first.live.keeps_order)
		return false;
	block_set_fini(&heaps->first.live);
	numbered_blocks_init(&heaps->first.numbered);
	heaps->numbers_blocks = true;
	return true;
}

/* Remove all blocks of a heap. */
static void
free_blocks(const struct heaps *heaps, struct heap *heap)
{
	if (heaps->numbers_blocks)
		numbered_blocks_fini(&heap->numbered);
	else
		block_set_fini(&heap->live);
}

void
heaps_fini(struct heaps *heaps)
{
	for (size_t i = 0; i < heaps->other_count; i++) {
		free_blocks(heaps, heaps->others[i]);
		free(heaps->others[i]);
	}
	free(heaps->others);
	free_blocks(heaps, &heaps->first);
	u64_map_fini(&heaps->index);
	ids_fini(&heaps->ids);
}

static void
clear_history(const struct heaps *heaps, struct heap *heap)
{
	struct heaps_walk walk = { .live = { 0 } };
	struct block block;
	uint64_t address;
	bool added;

	while (heaps_next_block(heaps, heap, &walk, &address, &block)) {
		const struct block without_history = {
			.size = block.size,
			.number = block.number,
		};

		if (heaps->numbers_blocks)
			numbered_blocks_set(&heap->numbered, &without_history);
		else
			block_set_put(&heap->live, address, &without_history,
				      &added, NULL);
	}
}

void
heaps_clear_history(struct heaps *heaps)
{
	clear_history(heaps, &heaps->first);
	for (size_t i = 0; i < heaps->other_count; i++)
		clear_history(heaps, heaps->others[i]);
	heaps->peak_count = heaps->live_count;
	heaps->peak_nbytes = heaps->live_nbytes;
}

bool
heaps_keep_without_history(struct heaps *heaps)
{
	struct heaps_walk walk = { .live = { 0 } };
	struct block block;
	struct heaps kept;
	bool is_fine = true, replaced;
	uint64_t address;

	heaps_init(&kept, false);
	if (heaps->numbers_blocks)
		heaps_number_blocks(&kept);
	while (is_fine &&
	       heaps_next_block(heaps, &heaps->first, &walk, &address, &block))
		if (block.object == 0)
			is_fine = heaps_put(&kept, &kept.first, address, &block,
					    &replaced, NULL);
	heaps_fini(heaps);
	*heaps = kept;
	return is_fine;
}

/*
 * Make room in 'others' for one more heap.  Return false if there is no memory.
 */
static bool
make_room(struct heaps *heaps)
{
	const size_t cap = heaps->other_cap == 0 ? 1 : 2 * heaps->other_cap;
	struct heap **others;

	if (heaps->other_count < heaps->other_cap)
		return true;
	others = reallocarray(heaps->others, cap, sizeof(struct heap *));
	if (others == NULL)
		return false;
	heaps->others = others;
	heaps->other_cap = cap;
	return true;
}

struct heap *
heaps_get(struct heaps *heaps, uint64_t id)
{
	if (id == 0)
		return &heaps->first;

	struct u64_map_entry *entry = u64_map_find(&heaps->index, id);
	struct heap *heap;
	bool added;

	if (entry != NULL)
		return heaps->others[entry->value];
	heap = calloc(1, sizeof(*heap));
	if (heap == NULL)
		return NULL;
	if (heaps->numbers_blocks) {
		numbered_blocks_init(&heap->numbered);
	} else {
		block_set_init(&heap->live);
		heap->live.keeps_order = heaps->first.live.keeps_order;
	}
	entry = make_room(heaps) ? u64_map_put(&heaps->index, id, &added)
				 : NULL;
	if (entry == NULL) {
		free(heap);
		return NULL;
	}
	entry->value = heaps->other_count;
	heap->id = id;
	heaps->others[heaps->other_count++] = heap;
	return heap;
}

bool
heaps_keep_order(struct heaps *heaps)
{
	bool is_fine = block_set_keep_order(&heaps->first.live);

	for (size_t i = 0; i < heaps->other_count && is_fine; i++)
		is_fine = block_set_keep_order(&heaps->others[i]->live);
	return is_fine;
}

/*
 * Free a heap.  Move the last heap of 'others' to the place of the freed heap.
 */
static void
remove_heap(struct heaps *heaps, struct heap *heap)
{
	struct u64_map_entry *const entry =
		u64_map_find(&heaps->index, heap->id);
	struct heap *const last = heaps->others[--heaps->other_count];

	if (last != heap) {
		heaps->others[entry->value] = last;
		u64_map_find(&heaps->index, last->id)->value = entry->value;
	}
	u64_map_remove(&heaps->index, entry);
	free(heap);
}

struct heap *
heaps_find(struct heaps *heaps, uint64_t id)
{
	const struct u64_map_entry *entry;

	if (id == 0)
		return &heaps->first;
	entry = u64_map_find(&heaps->index, id);
	return entry != NULL ? heaps->others[entry->value] : NULL;
}

void
heaps_sum_without_history(struct heaps *heaps, uint64_t id, uint64_t *count_ret,
			  uint64_t *nbytes_ret)
{
	const struct heap *const heap = heaps_find(heaps, id);
	struct heaps_walk walk = { .live = { 0 } };
	struct block block;
	uint64_t address;

	*count_ret = *nbytes_ret = 0;
	while (heap != NULL &&
	       heaps_next_block(heaps, heap, &walk, &address, &block)) {
		if (block.object != 0)
			continue;
		++*count_ret;
		*nbytes_ret += block.size;
	}
}

void
heaps_clear(struct heaps *heaps, uint64_t id)
{
	struct heap *const heap = heaps_find(heaps, id);

	if (heap == NULL)
		return;
	heaps->live_count -=
		heaps->numbers_blocks ? heap->numbered.count : heap->live.count;
	heaps->live_nbytes -= heap->nbytes;
	heap->nbytes = 0;
	free_blocks(heaps, heap);
	if (id != 0)
		remove_heap(heaps, heap);
}
