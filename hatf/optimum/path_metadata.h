/* SPDX-License-Identifier: MIT */
/*
 * path_metadata.h - find the metadata that leads to a field's least costs
 *
 * This is the backward pass of field_paths.h.  The forward pass stores the
 * costs in the gaps, but not where each episode began.  To find the start of an
 * episode, go backwards from its end and add up the costs of its uses.  The
 * episode starts where this sum, plus the cost of starting an episode there,
 * equals the cost in the gap after the episode.
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
