/* SPDX-License-Identifier: MIT */
/*
 * widths.h - the cheapest widths for the attributes, a field of byte strings
 *
 * The state of the attributes field is its interpretation and its width.  The
 * interpretations are "none" and "default" (no attributes).  Width 0 under
 * "none" means the same as "default", so widths_place() never sets "default".
 * This leaves seven states: "none" with each of seven widths.  One "set
 * fieldSize" record leads from any state to any other.  Used by one thread at a
 * time.
 */
#ifndef HATF_WIDTHS_H
#define HATF_WIDTHS_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"

struct widths;

/*
 * Return an object with room for 'value_count' values, or NULL if there is no
 * memory.
 */
struct widths *widths_new(size_t value_count);

/* Free the memory.  'w' may be NULL. */
void widths_free(struct widths *w);

/*
 * widths_clear() removes all values.  widths_add() appends a value, given by
 * its length and by the index of its record in the span.
 */
void widths_clear(struct widths *w);
void widths_add(struct widths *w, uint32_t nbytes, uint32_t record);

/*
 * Find the cheapest metadata for the attributes.  Store the metadata records in
 * 'changes', which must have room for field_paths_change_max() of them, and
 * return their number.  If 'any' is true, change the width wherever this saves
 * bytes.  Otherwise use one width for the whole span.
 */
size_t widths_place(struct widths *w, const struct layout_field *state,
		    bool restart, bool any, struct place_change *changes);

#endif /* HATF_WIDTHS_H */
