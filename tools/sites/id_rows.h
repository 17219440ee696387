/* SPDX-License-Identifier: MIT */
/*
 * id_rows.h - number the ids of a trace from 0, in the order of their first use
 *
 * Ids of stacks, threads and heaps are mostly small and dense; such ids are
 * looked up in an array.  An id that is much larger than the number of ids goes
 * into a hash table.  Its hash function is random, so that an attacker who
 * chooses the ids of a trace cannot provoke collisions.
 *
 * Memory is O(number of ids).  Only one thread at a time may use a table.
 */
#ifndef ID_ROWS_H
#define ID_ROWS_H

#include "tools/sites/seeded_hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stands for "no row". */
#define ID_ROWS_NONE UINT32_MAX

struct id_slot {
	uint64_t id;
	uint32_t row_plus_1; /* 0: a free slot */
};

/* Begins as all zeros. */
struct id_rows {
	/* for each id that uses the array: its row plus 1; 0: no row */
	uint32_t *dense;
	size_t dense_count;
	/* hash table of all other ids; its length is a power of two */
	struct id_slot *slots;
	size_t slot_count, slots_used;
	struct seeded_hash hash;
	uint32_t count;
};

/*
 * Look for an id in the hash table, which must not be empty.  Return its row,
 * or ID_ROWS_NONE if the hash table does not contain the id.
 */
uint32_t id_rows_find_slow(const struct id_rows *ids, uint64_t id);

/* Return the row of an id, or ID_ROWS_NONE. */
static inline uint32_t
id_rows_find(const struct id_rows *ids, uint64_t id)
{
	if (id < ids->dense_count && ids->dense[id] != 0)
		return ids->dense[id] - 1;
	return ids->slots_used == 0 ? ID_ROWS_NONE : id_rows_find_slow(ids, id);
}

/*
 * Give the next row to an id that has none.  Return the row, or ID_ROWS_NONE if
 * there is no memory or no free row.
 */
uint32_t id_rows_add(struct id_rows *ids, uint64_t id);

void id_rows_free(struct id_rows *ids);

#endif /* ID_ROWS_H */
