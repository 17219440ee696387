/* SPDX-License-Identifier: MIT */
/*
 * ordered_map.h - a map that keeps its items in order of insertion
 *
 * The map is for the blocks and the threads that are live when a window begins,
 * because the replay creates them in the order of the trace.  Memory is
 * O(items).
 *
 * Used by one thread at a time.
 */
#ifndef ORDERED_MAP_H
#define ORDERED_MAP_H

#include "hatf/containers/u64_map.h"

struct ordered_item {
	uint64_t key; /* address of a block, or id of a thread */
	uint64_t size, alignment, thread;
	uint8_t kind; /* the call that allocates the block in the replay */
	bool is_gone; /* the item was removed */
};

struct ordered_map {
	struct u64_map index;	    /* key -> index of the item */
	struct ordered_item *items; /* in order, including removed items */
	size_t count, cap;
};

void ordered_map_init(struct ordered_map *map);
void ordered_map_fini(struct ordered_map *map);

bool ordered_map_has(struct ordered_map *map, uint64_t key);

/*
 * Append an item.  If the map contains an item with the same key, remove that
 * item first.  Return false if there is no memory.
 */
bool ordered_map_put(struct ordered_map *map, const struct ordered_item *item);

/* Remove the item with this key, if there is one. */
void ordered_map_remove(struct ordered_map *map, uint64_t key);

#endif /* ORDERED_MAP_H */
