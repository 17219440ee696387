/* SPDX-License-Identifier: MIT */
/*
 * inherited.c - see inherited.h
 */
#include "inherited.h"

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
	inherited->dead =
		calloc(INHERITED_DEAD_SLOTS, sizeof(*inherited->dead));
	return inherited->dead != NULL;
}

void
inherited_fini(struct inherited *inherited)
{
	live_fini(&inherited->gone);
	free(inherited->dead);
	inherited->dead = NULL;
}

bool
inherited_may_be(struct inherited *inherited, uint64_t address)
{
	return address != 0 && *dead_slot(inherited, address) != address &&
	       live_find(&inherited->gone, address) == NULL;
}

bool
inherited_note(struct inherited *inherited, uint64_t address)
{
	bool added;

	return live_put(&inherited->gone, address, &added) != NULL;
}

void
inherited_note_dead(struct inherited *inherited, uint64_t address)
{
	*dead_slot(inherited, address) = address;
}
