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

	const struct live_entry *const known = live_find(&heaps->index, id);
	const struct live_entry entry = { .address = id,
					  .size = heaps->other_count };
	struct heap *heap;

	if (known != NULL)
		return heaps->others[known->size];
	heap = calloc(1, sizeof(*heap));
	if (heap == NULL)
		return NULL;
	live_init(&heap->live);
	if (!make_room(heaps) || !live_insert(&heaps->index, &entry)) {
		free(heap);
		return NULL;
	}
	heaps->others[heaps->other_count++] = heap;
	return heap;
}

void
heaps_clear(struct heaps *heaps, uint64_t id)
{
	const struct live_entry *const known = live_find(&heaps->index, id);
	struct heap *const heap = id == 0 ? &heaps->first
				  : known == NULL ? NULL
						  : heaps->others[known->size];

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
heaps_insert(struct heaps *heaps, struct heap *heap,
	     const struct live_entry *entry)
{
	if (!live_insert(&heap->live, entry))
		return false;
	heap->nbytes += entry->size;
	heaps->live_count++;
	heaps->live_nbytes += entry->size;
	note_peak(heaps);
	return true;
}

void
heaps_remove(struct heaps *heaps, struct heap *heap, struct live_entry *entry)
{
	heap->nbytes -= entry->size;
	heaps->live_count--;
	heaps->live_nbytes -= entry->size;
	live_remove(&heap->live, entry);
}

void
heaps_resize(struct heaps *heaps, struct heap *heap, struct live_entry *entry,
	     uint64_t size)
{
	heap->nbytes += size - entry->size;
	heaps->live_nbytes += size - entry->size;
	entry->size = size;
	note_peak(heaps);
}
