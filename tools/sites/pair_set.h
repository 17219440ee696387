/* SPDX-License-Identifier: MIT */
/*
 * pair_set.h - a set of pairs of numbers
 *
 * A hash table with open addressing and linear probing.  A slot has 16 bytes;
 * at most half of the slots are in use.  A 'struct pair_set' of zeros is empty.
 * Only one thread may use a set.
 */
#ifndef PAIR_SET_H
#define PAIR_SET_H

#include "tools/sites/seeded_hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
	uint64_t a, b; /* 'b' must not be 0, which marks a free slot */
};

struct pair_set {
	struct pair *slots; /* hash table; a slot whose 'b' is 0 is free */
	size_t count, cap;
	struct seeded_hash hash;
};

/*
 * Add a pair, unless the set contains it.  Return false if there is no memory.
 */
bool pair_set_add(struct pair_set *set, struct pair pair);

/* Remove a pair.  Return false if the set does not contain the pair. */
bool pair_set_remove(struct pair_set *set, struct pair pair);

bool pair_set_has(const struct pair_set *set, struct pair pair);

void pair_set_fini(struct pair_set *set);

#endif /* PAIR_SET_H */
