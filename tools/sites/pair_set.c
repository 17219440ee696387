/* SPDX-License-Identifier: MIT */
/* pair_set.c - see pair_set.h */
#include "tools/sites/pair_set.h"

#include <stdlib.h>

static size_t
home(const struct pair_set *set, struct pair pair)
{
	const uint64_t a = seeded_hash_u64(&set->hash, pair.a);

	return seeded_hash_u64(&set->hash, a ^ pair.b) & (set->cap - 1);
}

/* Return the slot of a pair, or the free slot where the pair belongs. */
static size_t
seek(const struct pair_set *set, struct pair pair)
{
	size_t i = home(set, pair);

	while (set->slots[i].b != 0 &&
	       (set->slots[i].b != pair.b || set->slots[i].a != pair.a))
		i = (i + 1) & (set->cap - 1);
	return i;
}

static bool
grow(struct pair_set *set)
{
	const struct pair_set old = *set;

	set->cap = old.cap == 0 ? 1024 : 2 * old.cap;
	set->slots = calloc(set->cap, sizeof(*set->slots));
	if (set->slots == NULL) {
		*set = old;
		return false;
	}
	if (old.cap == 0)
		seeded_hash_init(&set->hash);
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].b != 0)
			set->slots[seek(set, old.slots[i])] = old.slots[i];
	free(old.slots);
	return true;
}

bool
pair_set_add(struct pair_set *set, struct pair pair)
{
	size_t i;

	if (2 * (set->count + 1) > set->cap && !grow(set))
		return false;
	i = seek(set, pair);
	set->count += set->slots[i].b == 0;
	set->slots[i] = pair;
	return true;
}

bool
pair_set_has(const struct pair_set *set, struct pair pair)
{
	return set->cap != 0 && set->slots[seek(set, pair)].b != 0;
}

bool
pair_set_remove(struct pair_set *set, struct pair pair)
{
	const size_t mask = set->cap - 1;
	size_t hole, i;

	if (!pair_set_has(set, pair))
		return false;
	hole = i = seek(set, pair);
	/*
	 * If a search would now stop at the hole before it finds a later pair,
	 * move this pair into the hole.  The pair leaves a new hole.
	 */
	for (;;) {
		i = (i + 1) & mask;
		if (set->slots[i].b == 0)
			break;
		if (((i - home(set, set->slots[i])) & mask) >=
		    ((i - hole) & mask)) {
			set->slots[hole] = set->slots[i];
			hole = i;
		}
	}
	set->slots[hole].b = 0;
	set->count--;
	return true;
}

void
pair_set_fini(struct pair_set *set)
{
	free(set->slots);
	*set = (struct pair_set){ .slots = NULL };
}
