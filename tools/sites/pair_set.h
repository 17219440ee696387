/* SPDX-License-Identifier: MIT */
/*
 * pair_set.h - a set of pairs of numbers
 *
 * Open addressing with linear probing; 16 bytes a slot, at most half of them in
 * use.  A 'struct pair_set' of zeros is empty.  One thread uses a set.
 */
#ifndef PAIR_SET_H
#define PAIR_SET_H

#include "tools/sites/seeded_hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
	uint64_t a, b; /* b is not 0 */
};

struct pair_set {
	struct pair *slots; /* b is 0: free */
	size_t count, cap;
	struct seeded_hash hash;
};

/* Add a pair, unless it is there.  Return false if there is no memory. */
bool pair_set_add(struct pair_set *set, struct pair pair);

/* Remove a pair.  Was it there? */
bool pair_set_remove(struct pair_set *set, struct pair pair);

bool pair_set_has(const struct pair_set *set, struct pair pair);

void pair_set_fini(struct pair_set *set);

#endif /* PAIR_SET_H */
