/* SPDX-License-Identifier: MIT */
/*
 * path_metadata.h - from the least costs of a field back to the metadata
 *
 * The second half of 'field_paths.h'.  Where an episode must have begun follows from
 * the costs alone, by adding up its uses backwards until the sum is right; so
 * nothing but the gaps has to be kept on the way there.
 */
#ifndef HATF_EPISODES_H
#define HATF_EPISODES_H

#include "hatf/optimum/field_paths.h"

/*
 * Store the metadata of the cheapest way in 'changes', which has room for
 * numbers_change_max(), and return how many records that is.  The costs have been
 * found by numbers_find_costs().
 */
size_t episodes_place(struct numbers *n, struct place_change *changes);

#endif /* HATF_EPISODES_H */
