/* SPDX-License-Identifier: MIT */
/*
 * episodes.h - from the least costs of a field back to the metadata
 *
 * The second half of 'numbers.h'.  Where an episode must have begun follows from
 * the costs alone, by adding up its uses backwards until the sum is right; so
 * nothing but the gaps has to be kept on the way there.
 */
#ifndef HATF_EPISODES_H
#define HATF_EPISODES_H

#include "numbers.h"

struct episode {
	size_t start, end; /* uses */
	unsigned interpretation;
	unsigned lane; /* at its first use */
	unsigned last; /* width before it began */
	uint64_t base;
	bool is_under_way; /* it began before the window */
};

/*
 * Find the episodes of the cheapest way, the last one first, and the lanes at
 * their uses: n->choices[i] has the lane at use i, by that at the use before.
 * Returns how many episodes there are.
 */
size_t episodes_find(struct numbers *n);

/* Store their metadata, and return how many records that is. */
size_t episodes_put(const struct numbers *n, size_t count,
		    struct place_change *changes);

/* The same for a field that no record has. */
size_t episodes_put_none(const struct numbers *n, struct place_change *changes);

#endif /* HATF_EPISODES_H */
