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
#ifndef HATF_STATES_H
#define HATF_STATES_H

#include "hatf/codec/layout.h"
#include "hatf/codec/trellis.h"

/* Bytes of a metadata record: set fieldSize or "none"; with one value. */
enum {
	STATES_WIDTH_COST = 4,
	STATES_VALUE_COST = 12,
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
	CLASS_CHANGED = 4,		  /* size: not that of the use before */
	CLASS_UNUSED = TRELLIS_TIED | 31, /* the record has no such field */
	CLASS_SHORT = 5,		  /* any length up to 255 */
	CLASS_LONG = 6,
};

/* No state of the trellis; and the width of a state that does not exist. */
#define STATE_FOREIGN  TRELLIS_STATES
#define STATE_NO_WIDTH 255

/* Where time, thread, heap and attributes are not stored. */
#define STATE_NOTHING 1

struct states {
	/* 'delta' are the rules of time, thread and heap. */
	struct trellis_rules size, address, delta, attributes;
};

void states_init(struct states *s);

/* The width code of a state; under default, the last one. */
unsigned state_width(unsigned field, unsigned state);

enum hatf_interpretation state_interpretation(unsigned field, unsigned state);

/* The state that a field is in; STATE_FOREIGN if it is in none. */
unsigned state_of(unsigned field, const struct layout_field *f);

/* All states of a group alike. */
void states_set(struct trellis_costs *c, int first, int second);

#endif /* HATF_STATES_H */
