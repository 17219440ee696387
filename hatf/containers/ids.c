/* SPDX-License-Identifier: MIT */
/*
 * ids.c - see ids.h
 */
#include "hatf/containers/ids.h"

#include <stdlib.h>

#define MIN_SLOTS 64

enum ids_state {
	IDS_NEW,     /* the id was never seen, and the slot is free */
	IDS_IMPLIED, /* in use, although no record created the id */
	IDS_ALIVE,
	IDS_GONE,
};

void
ids_init(struct ids *ids, bool strict)
{
	*ids = (struct ids){ .strict = strict };
	u64_map_seed_init(&ids->seed);
}

void
ids_fini(struct ids *ids)
{
	free(ids->keys);
	free(ids->states);
}

size_t
ids_count(const struct ids *ids)
{
	return ids->count;
}

/*
 * Return the slot of 'id', or the free slot where it belongs.  The table must
 * have slots.
 */
static size_t
find_slot(const struct ids *ids, uint64_t id)
{
	const size_t mask = ids->slot_count - 1;
	size_t slot = u64_map_seed_hash(&ids->seed, id) & mask;

	while (ids->states[slot] != IDS_NEW && ids->keys[slot] != id)
		slot = (slot + 1) & mask;
	return slot;
}

static enum ids_state
find_state(const struct ids *ids, uint64_t id)
{
	return ids->slot_count == 0
		       ? IDS_NEW
		       : (enum ids_state)ids->states[find_slot(ids, id)];
}

/* Make room for one more id.  Return false if there is no memory. */
static bool
make_room(struct ids *ids)
{
	const size_t slot_count =
		ids->slot_count == 0 ? MIN_SLOTS : 2 * ids->slot_count;
	struct ids grown = { .slot_count = slot_count, .seed = ids->seed };

	if (ids->count < ids->slot_count / 4 * 3)
		return true;
	grown.keys = calloc(slot_count, sizeof(*grown.keys));
	grown.states = calloc(slot_count, sizeof(*grown.states));
	if (grown.keys == NULL || grown.states == NULL) {
		ids_fini(&grown);
		return false;
	}
	for (size_t i = 0; i < ids->slot_count; i++) {
		size_t slot;

		if (ids->states[i] == IDS_NEW)
			continue;
		slot = find_slot(&grown, ids->keys[i]);
		grown.keys[slot] = ids->keys[i];
		grown.states[slot] = ids->states[i];
	}
	ids_fini(ids);
	ids->keys = grown.keys;
	ids->states = grown.states;
	ids->slot_count = slot_count;
	return true;
}

/*
 * Set the state of 'id', and store the old state in '*before_ret'.  Return
 * false if there is no memory.
 */
static bool
change(struct ids *ids, uint64_t id, enum ids_state state,
       enum ids_state *before_ret)
{
	size_t slot;

	if (!make_room(ids))
		return false;
	slot = find_slot(ids, id);
	*before_ret = (enum ids_state)ids->states[slot];
	ids->count += *before_ret == IDS_NEW;
	ids->keys[slot] = id;
	ids->states[slot] = (uint8_t)state;
	return true;
}

enum ids_result
ids_create(struct ids *ids, uint64_t id)
{
	enum ids_state before;

	if (!change(ids, id, IDS_ALIVE, &before))
		return IDS_NO_MEMORY;
	if (before == IDS_ALIVE || (before == IDS_GONE && ids->strict))
		return IDS_WRONG;
	return IDS_OK;
}

enum ids_result
ids_destroy(struct ids *ids, uint64_t id)
{
	enum ids_state before;

	if (!change(ids, id, IDS_GONE, &before))
		return IDS_NO_MEMORY;
	if (before == IDS_GONE || (before == IDS_NEW && ids->strict))
		return IDS_WRONG;
	return IDS_OK;
}

enum ids_result
ids_use(struct ids *ids, uint64_t id)
{
	enum ids_state before = find_state(ids, id);

	if (before == IDS_IMPLIED || before == IDS_ALIVE)
		return IDS_OK;
	if (!change(ids, id, IDS_IMPLIED, &before))
		return IDS_NO_MEMORY;
	if (before == IDS_GONE || ids->strict)
		return IDS_WRONG;
	return IDS_OK;
}
