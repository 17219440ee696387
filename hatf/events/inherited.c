/* SPDX-License-Identifier: MIT */
/*
 * inherited.c - see inherited.h
 */
#include "hatf/events/inherited.h"

#include <stdlib.h>

static uint64_t *
dead_slot(const struct inherited *inherited, uint64_t address)
{
	return &inherited->dead[u64_map_hash(&inherited->gone, address) >>
				(64 - INHERITED_DEAD_SHIFT)];
}

bool
inherited_init(struct inherited *inherited)
{
	u64_map_init(&inherited->gone);
	u64_map_init(&inherited->unsure);
	inherited->dead =
		calloc(INHERITED_DEAD_SLOTS, sizeof(*inherited->dead));
	return inherited->dead != NULL;
}

void
inherited_fini(struct inherited *inherited)
{
	u64_map_fini(&inherited->gone);
	u64_map_fini(&inherited->unsure);
	free(inherited->dead);
	inherited->dead = NULL;
}

void
inherited_set_exact(struct inherited *inherited, const struct u64_map *unsure)
{
	inherited->exact = true;
	inherited->unsure = *unsure;
	free(inherited->dead);
	inherited->dead = NULL;
}

bool
inherited_settle(struct inherited *inherited, uint64_t address)
{
	struct u64_map_entry *const block =
		u64_map_find(&inherited->unsure, address);

	if (block == NULL)
		return false;
	u64_map_remove(&inherited->unsure, block);
	return true;
}

bool
inherited_may_be(struct inherited *inherited, uint64_t address)
{
	if (inherited->exact)
		return u64_map_find(&inherited->unsure, address) != NULL;
	return address != 0 && *dead_slot(inherited, address) != address &&
	       u64_map_find(&inherited->gone, address) == NULL;
}

bool
inherited_note(struct inherited *inherited, uint64_t address)
{
	bool added;

	if (inherited->exact)
		return inherited_settle(inherited, address);
	return u64_map_put(&inherited->gone, address, &added) != NULL;
}

void
inherited_note_dead(struct inherited *inherited, uint64_t address)
{
	if (inherited->exact)
		inherited_settle(inherited, address);
	else
		*dead_slot(inherited, address) = address;
}
