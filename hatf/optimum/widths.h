/* SPDX-License-Identifier: MIT */
/*
 * widths.h - the cheapest widths for the attributes, a field of byte strings
 *
 * Attributes have only the interpretations "none" and an empty "default"; width
 * 0 makes the latter superfluous.  So there are seven states, each one set
 * fieldSize away from every other.  Used by one thread at a time.
 */
#ifndef HATF_WIDTHS_H
#define HATF_WIDTHS_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"

struct widths;

/* Allocate for at most 'value_count' values; NULL if there is no memory. */
struct widths *widths_new(size_t value_count);

/* NULL is allowed. */
void widths_free(struct widths *w);

/* Remove all values; append the length of a value, and its record. */
void widths_clear(struct widths *w);
void widths_add(struct widths *w, uint32_t nbytes, uint32_t record);

/*
 * Like path_metadata_place().  With 'any' change the width wherever that pays;
 * else use one width for the whole span.
 */
size_t widths_place(struct widths *w, const struct layout_field *state,
		    bool restart, bool any, struct place_change *changes);

#endif /* HATF_WIDTHS_H */
