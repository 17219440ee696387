/* SPDX-License-Identifier: MIT */
/* id_rows.c - see id_rows.h */
#include "tools/sites/id_rows.h"

#include <stdlib.h>
#include <string.h>

/*
 * Ids below this number always use the array.  An array of only these ids takes
 * at most 256 KiB.
 */
#define DENSE_MIN 65536

/*
 * May 'id' use the array?  Yes, if it is small, or below four times the number
 * of ids so far.  In this way the array stays small compared with the number of
 * ids.
 */
static bool
is_dense(const struct id_rows *ids, uint64_t id)
{
	return id < DENSE_MIN || id / 4 < ids->count;
}

static size_t
seek(const struct id_rows *ids, uint64_t id)
{
	size_t i = seeded_hash_u64(&ids->hash, id) & (ids->slot_count - 1);

	while (ids->slots[i].row_plus_1 != 0 && ids->slots[i].id != id)
		i = (i + 1) & (ids->slot_count - 1);
	return i;
}

uint32_t
id_rows_find_slow(const struct id_rows *ids, uint64_t id)
{
	const struct id_slot *const slot = &ids->slots[seek(ids, id)];

	return slot->row_plus_1 != 0 ? slot->row_plus_1 - 1 : ID_ROWS_NONE;
}

static bool
grow_dense(struct id_rows *ids, uint64_t id)
{
	size_t count = ids->dense_count == 0 ? 64 : ids->dense_count;
	uint32_t *dense;

	while (count <= id)
		count *= 2;
	dense = realloc(ids->dense, count * sizeof(*dense));
	if (dense == NULL)
		return false;
	memset(dense + ids->dense_count, 0,
	       (count - ids->dense_count) * sizeof(*dense));
	ids->dense = dense;
	ids->dense_count = count;
	return true;
}

static bool
grow_slots(struct id_rows *ids)
{
	struct id_slot *const old = ids->slots;
	const size_t old_count = ids->slot_count;
	const size_t count = old_count == 0 ? 64 : 2 * old_count;
	struct id_slot *const slots = calloc(count, sizeof(*slots));

	if (slots == NULL)
		return false;
	if (old_count == 0)
		seeded_hash_init(&ids->hash);
	ids->slots = slots;
	ids->slot_count = count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].row_plus_1 != 0)
			slots[seek(ids, old[i].id)] = old[i];
	free(old);
	return true;
}

uint32_t
id_rows_add(struct id_rows *ids, uint64_t id)
{
	if (ids->count == ID_ROWS_NONE - 1)
		return ID_ROWS_NONE;
	if (is_dense(ids, id)) {
		if (id >= ids->dense_count && !grow_dense(ids, id))
			return ID_ROWS_NONE;
		ids->dense[id] = ++ids->count;
		return ids->count - 1;
	}
	if (ids->slots_used >= ids->slot_count / 2 && !grow_slots(ids))
		return ID_ROWS_NONE;
	ids->slots_used++;
	ids->slots[seek(ids, id)] =
		(struct id_slot){ .id = id, .row_plus_1 = ++ids->count };
	return ids->count - 1;
}

void
id_rows_free(struct id_rows *ids)
{
	free(ids->dense);
	free(ids->slots);
	*ids = (struct id_rows){ 0 };
}
