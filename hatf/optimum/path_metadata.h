/* SPDX-License-Identifier: MIT */
/*
 * path_metadata.h - from the least costs of a field back to the metadata
 *
 * The backward pass of field_paths.h.  The costs alone determine where an
 * episode began: add up its uses backwards until the sum is right.  So the
 * forward pass keeps the gaps only.
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
