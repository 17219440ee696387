/* SPDX-License-Identifier: MIT */
/*
 * id_index.h - ids of a trace as indices of an array
 *
 * In all traces that we write and in most that we read, ids count up from 1.
 * As long as they do, the index of an id is the id minus 1.  Other ids are in a
 * hash map, which the owner of the index frees with
 * u64_map_fini(&index->others).
 */
#ifndef HATF_ID_INDEX_H
#define HATF_ID_INDEX_H

#include "hatf/containers/u64_map.h"

/* Maps ids to the indices 0, 1, ... of an array. */
struct id_index {
	/* each id from 1 to this number has the index id - 1 */
	uint64_t sequential;
	uint32_t count;	       /* number of indices given so far */
	struct u64_map others; /* all other ids; each 'value' is an index */
};

/*
 * Store the index of an id in '*row_ret'.  Return false if the id has no index.
 */
static inline bool
id_index_find(const struct id_index *index, uint64_t id, uint32_t *row_ret)
{
	const struct u64_map_entry *entry;

	if (id - 1 < index->sequential) {
		*row_ret = (uint32_t)(id - 1);
		return true;
	}
	/* The cast is safe, because u64_map_find() does not change the map. */
	entry = u64_map_find((struct u64_map *)(uintptr_t)&index->others, id);
	if (entry == NULL)
		return false;
	*row_ret = (uint32_t)entry->value;
	return true;
}

/* Give the next free index to a new id.  Return false if there is no memory. */
static inline bool
id_index_add(struct id_index *index, uint64_t id)
{
	struct u64_map_entry *entry;
	bool added;

	if (index->sequential == index->count && id == index->sequential + 1) {
		index->sequential++;
	} else {
		entry = u64_map_put(&index->others, id, &added);
		if (entry == NULL)
			return false;
		entry->value = index->count;
	}
	index->count++;
	return true;
}

static inline void
id_index_init(struct id_index *index)
{
	*index = (struct id_index){ 0 };
	u64_map_init(&index->others);
}

#endif /* HATF_ID_INDEX_H */
