/* SPDX-License-Identifier: MIT */
/*
 * inherited.c - see inherited.h
 */
#include "hatf/events/inherited.h"

#include <stdlib.h>

static uint64_t *
dead_slot(const struct inherited *inherited, uint64_t address)
{
	return &inherited->dead[live_hash(&inherited->gone, address) >>
				(64 - INHERITED_DEAD_SHIFT)];
}

bool
inherited_init(struct inherited *inherited)
{
	live_init(&inherited->gone);
	live_init(&inherited->unsure);
	inherited->dead =
		calloc(INHERITED_DEAD_SLOTS, sizeof(*inherited->dead));
	return inherited->dead != NULL;
}

void
inherited_fini(struct inherited *inherited)
{
	live_fini(&inherited->gone);
	live_fini(&inherited->unsure);
	free(inherited->dead);
	inherited->dead = NULL;
}

void
inherited_set_exact(struct inherited *inherited, const struct live *unsure)
{
	inherited->exact = true;
	inherited->unsure = *unsure;
	free(inherited->dead);
	inherited->dead = NULL;
}

bool
inherited_settle(struct inherited *inherited, uint64_t address)
{
	struct live_block *const block = live_find(&inherited->unsure, address);

	if (block == NULL)
		return false;
	live_remove(&inherited->unsure, block);
	return true;
}

bool
inherited_may_be(struct inherited *inherited, uint64_t address)
{
	if (inherited->exact)
		return live_find(&inherited->unsure, address) != NULL;
	return address != 0 && *dead_slot(inherited, address) != address &&
	       live_find(&inherited->gone, address) == NULL;
}

bool
inherited_note(struct inherited *inherited, uint64_t address)
{
	bool added;

	if (inherited->exact)
		return inherited_settle(inherited, address);
	return live_put(&inherited->gone, address, &added) != NULL;
}

void
inherited_note_dead(struct inherited *inherited, uint64_t address)
{
	if (inherited->exact)
		inherited_settle(inherited, address);
	else
		*dead_slot(inherited, address) = address;
}
