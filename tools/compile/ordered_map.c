/* SPDX-License-Identifier: MIT */
/* ordered_map.c - see ordered_map.h */
#include "tools/compile/ordered_map.h"

#include <stdlib.h>

void
ordered_map_init(struct ordered_map *map)
{
	*map = (struct ordered_map){ 0 };
	u64_map_init(&map->index);
}

void
ordered_map_fini(struct ordered_map *map)
{
	u64_map_fini(&map->index);
	free(map->items);
}

bool
ordered_map_has(struct ordered_map *map, uint64_t key)
{
	return u64_map_find(&map->index, key) != NULL;
}

/* Close the gaps that removed items have left. */
static void
compact(struct ordered_map *map)
{
	size_t kept = 0;

	for (size_t i = 0; i < map->count; i++) {
		if (map->items[i].is_gone)
			continue;
		map->items[kept] = map->items[i];
		u64_map_find(&map->index, map->items[kept].key)->value = kept;
		kept++;
	}
	map->count = kept;
}

/* Make room for one more item. */
static bool
make_room(struct ordered_map *map)
{
	struct ordered_item *items;
	size_t cap;

	if (map->count < map->cap)
		return true;
	if (u64_map_count(&map->index) < map->cap / 2) {
		compact(map);
		return true;
	}
	cap = map->cap != 0 ? map->cap * 2 : 64;
	items = reallocarray(map->items, cap, sizeof(*items));
	if (items == NULL)
		return false;
	map->items = items;
	map->cap = cap;
	return true;
}

bool
ordered_map_put(struct ordered_map *map, const struct ordered_item *item)
{
	struct u64_map_entry *entry;
	bool added;

	ordered_map_remove(map, item->key);
	if (!make_room(map))
		return false;
	entry = u64_map_put(&map->index, item->key, &added);
	if (entry == NULL)
		return false;
	entry->value = map->count;
	map->items[map->count++] = *item;
	return true;
}

void
ordered_map_remove(struct ordered_map *map, uint64_t key)
{
	struct u64_map_entry *const entry = u64_map_find(&map->index, key);

	if (entry == NULL)
		return;
	map->items[entry->value].is_gone = true;
	u64_map_remove(&map->index, entry);
}
