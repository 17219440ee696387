/* SPDX-License-Identifier: MIT */
/*
 * path_metadata.h - find the metadata that leads to a field's least costs
 *
 * This is the backward pass of field_paths.h.  The costs alone determine where
 * an episode began.  To find this place, go backwards and add the costs of the
 * episode's uses, until this sum plus the cost of starting the episode there
 * equals the cost after the episode.  So the forward pass keeps only the costs
 * in the gaps.
 */
#ifndef HATF_PATH_METADATA_H
#define HATF_PATH_METADATA_H

#include "hatf/optimum/field_paths.h"

/*
 * Store the metadata of the cheapest path in 'changes', which has room for
 * field_paths_change_max() records, and return their number.  Precondition:
 * field_paths_find_costs() has found the costs.
 */
size_t path_metadata_place(struct field_paths *p, struct place_change *changes);

#endif /* HATF_PATH_METADATA_H */
