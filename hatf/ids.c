/* SPDX-License-Identifier: MIT */
/*
 * ids.c - see ids.h
 */
#include "ids.h"

enum ids_state {
	IDS_NEW,     /* never seen */
	IDS_IMPLIED, /* used without having been created */
	IDS_ALIVE,
	IDS_GONE,
};

void
ids_init(struct ids *ids, bool strict)
{
	live_init(&ids->states);
	ids->strict = strict;
}

void
ids_fini(struct ids *ids)
{
	live_fini(&ids->states);
}

size_t
ids_count(const struct ids *ids)
{
	return live_count(&ids->states);
}

/* Set the state of 'id'; '*before_ret' is what it was. */
static bool
change(struct ids *ids, uint64_t id, enum ids_state state,
       enum ids_state *before_ret)
{
	bool added;
	struct live_block *const block = live_put(&ids->states, id, &added);

	if (block == NULL)
		return false;
	*before_ret = added ? IDS_NEW : (enum ids_state)block->size;
	block->size = state;
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
	const struct live_block *const known = live_find(&ids->states, id);
	enum ids_state before;

	if (known != NULL && known->size != IDS_GONE)
		return IDS_OK;
	if (!change(ids, id, IDS_IMPLIED, &before))
		return IDS_NO_MEMORY;
	if (before == IDS_GONE || ids->strict)
		return IDS_WRONG;
	return IDS_OK;
}
