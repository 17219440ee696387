/* SPDX-License-Identifier: MIT */
/*
 * field_states.h - the states that placement chooses between, and what they cost
 *
 * A field has eight states in a trellis (trellis.h): a width under one of two
 * interpretations.
 *
 *   field                first group           second group
 *   size                 none: 1, 2, 4, 8      default, after 1, 2, 4, 8
 *   address              delta: 1, 2, 4, 0     baseOffset: 0, 2, 4, 8
 *   time, thread, heap   delta: 1, 2, 4, 8     delta: 0
 *   attributes           1, 2, 4, 8            0, v1, v2
 *
 * "After": the last width, which a change from default restores for nothing.
 * Under delta, 0 bytes repeat the value: unlike default that takes no more than
 * a width to begin or end.  An offset of 0 bytes repeats the base.
 *
 * Runs where encoder.h runs.
 */
#ifndef FIELD_STATES_H
#define FIELD_STATES_H

#include "hatf/codec/layout.h"
#include "hatf/codec/trellis.h"

/* Bytes of a metadata record: set fieldSize or "none"; with one value. */
enum {
	FIELD_STATE_WIDTH_COST = 4,
	FIELD_STATE_VALUE_COST = 12,
};

/*
 * Classes of a use.
 *
 *   size                 bytes it needs: 0, 1, 2, 3 for 1, 2, 4, 8; and CHANGED
 *   time, thread, heap   bytes that the difference to the last one needs: 0,
 *                        1, 2, 3, 4 for 0, 1, 2, 4, 8
 *   address              5 * that of the difference + that of the offset; and
 *                        TRELLIS_TIED
 *   attributes           0, 1, 2, 3, 4 for exactly 0, 1, 2, 4, 8 bytes; SHORT,
 *                        LONG
 */
enum {
	FIELD_CLASS_CHANGED = 4, /* size: not that of the use before */
	FIELD_CLASS_UNUSED =
		TRELLIS_TIED | 31, /* the record has no such field */
	FIELD_CLASS_SHORT = 5,	   /* any length up to 255 */
	FIELD_CLASS_LONG = 6,
};

/* No state of the trellis; and the width of a state that does not exist. */
#define FIELD_STATE_OTHER    TRELLIS_STATES
#define FIELD_STATE_NO_WIDTH 255

/* Where time, thread, heap and attributes are not stored. */
#define FIELD_STATE_EMPTY 1

struct field_states {
	/* 'delta' are the rules of time, thread and heap. */
	struct trellis_rules size, address, delta, attributes;
};

void field_states_init(struct field_states *s);

/* The width code of a state; under default, the last one. */
unsigned field_state_width(unsigned field, unsigned state);

enum hatf_interpretation field_state_interpretation(unsigned field,
						    unsigned state);

/* The state that a field is in; FIELD_STATE_OTHER if it is in none. */
unsigned field_state_of(unsigned field, const struct layout_field *f);

/* All states of a group alike. */
void field_states_set(struct trellis_costs *c, int first, int second);

#endif /* FIELD_STATES_H */
