/* SPDX-License-Identifier: MIT */
/*
 * path_metadata.h - from the least costs of a field back to the metadata
 *
 * The second half of 'field_paths.h'.  Where an episode must have begun follows from
 * the costs alone, by adding up its uses backwards until the sum is right; so
 * nothing but the gaps has to be kept on the way there.
 */
#ifndef HATF_PATH_METADATA_H
#define HATF_PATH_METADATA_H

#include "hatf/optimum/field_paths.h"

/*
 * Store the metadata of the cheapest way in 'changes', which has room for
 * field_paths_change_max(), and return how many records that is.  The costs have been
 * found by field_paths_find_costs().
 */
size_t path_metadata_place(struct field_paths *n, struct place_change *changes);

#endif /* HATF_PATH_METADATA_H */
