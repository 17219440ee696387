/* SPDX-License-Identifier: MIT */
/* events_live.c - report the live objects of an event stage, see hatf.h */
#include "hatf/events/events.h"

static void
set_live(const struct hatf_events *ev, uint64_t heap, uint64_t address,
	 const struct block *block, struct hatf_live *ret)
{
	*ret = (struct hatf_live){
		.address = address,
		.size = block->size,
		.heap = heap,
		.object = block->object,
		.birth_time = block->birth_time,
		.birth_event = block->birth_event,
		.carried = events_is_carried(ev, block->object),
		.block = block->number,
	};
}

/*
 * Call 'visit' for the live objects of one heap.  Return false if 'visit'
 * returned false.
 */
static bool
visit_heap(const struct hatf_events *ev, const struct heap *heap,
	   bool (*visit)(void *ctx, const struct hatf_live *live), void *ctx)
{
	struct heaps_walk walk = { .live = { 0 } };
	struct hatf_live live;
	struct block block;
	uint64_t address;

	while (heaps_next_block(&ev->heaps, heap, &walk, &address, &block)) {
		set_live(ev, heap->id, address, &block, &live);
		if (!visit(ctx, &live))
			return false;
	}
	return true;
}

bool
hatf_events_visit_live(const struct hatf_events *events,
		       bool (*visit)(void *ctx, const struct hatf_live *live),
		       void *ctx)
{
	const struct heaps *const heaps = &events->heaps;

	if (!visit_heap(events, &heaps->first, visit, ctx))
		return false;
	for (size_t i = 0; i < heaps->other_count; i++)
		if (!visit_heap(events, heaps->others[i], visit, ctx))
			return false;
	return true;
}

/* -------------------------------------------------------------- neighbours */

enum hatf_status
hatf_events_keep_order(struct hatf_events *events)
{
	if (events->heaps.numbers_blocks)
		return HATF_BAD_OPTION;
	return heaps_keep_order(&events->heaps) ? HATF_OK : HATF_NO_MEMORY;
}

bool
hatf_events_live_before(struct hatf_events *events, uint64_t heap,
			uint64_t address, struct hatf_live *live_ret)
{
	const struct heap *const found = heaps_find(&events->heaps, heap);
	struct block block;

	if (found == NULL ||
	    !block_set_before(&found->live, address, &address, &block))
		return false;
	set_live(events, heap, address, &block, live_ret);
	return true;
}

bool
hatf_events_live_after(struct hatf_events *events, uint64_t heap,
		       uint64_t address, uint64_t last,
		       struct hatf_live *live_ret)
{
	const struct heap *const found = heaps_find(&events->heaps, heap);
	struct block block;

	if (found == NULL ||
	    !block_set_after(&found->live, address, last, &address, &block))
		return false;
	set_live(events, heap, address, &block, live_ret);
	return true;
}
