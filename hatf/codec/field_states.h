/* SPDX-License-Identifier: MIT */
/*
 * field_states.h - the states that place.c chooses between, and their costs
 *
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
 * "After" names the last width, which a change from default to none restores at
 * no cost.  Under delta, a field of 0 bytes repeats the last value; unlike
 * default, it begins and ends with a set fieldSize only.  Under baseOffset, a
 * field of 0 bytes has the value of the base.
 *
 * These functions may run where encoder.h runs, in any thread.
 */
#ifndef HATF_FIELD_STATES_H
#define HATF_FIELD_STATES_H

#include "hatf/codec/layout.h"
#include "hatf/codec/trellis.h"

/* Bytes of a metadata record: set fieldSize or none; or one with a value. */
enum {
	FIELD_STATE_WIDTH_COST = 4,
	FIELD_STATE_VALUE_COST = 12,
};

/*
 * Classes of a use of a field.
 *
 *   size                 bytes it needs: 0, 1, 2, 3 for 1, 2, 4, 8; plus
 *                        FIELD_CLASS_CHANGED
 *   time, thread, heap   bytes that the difference from the last value needs:
 *                        0, 1, 2, 3, 4 for 0, 1, 2, 4, 8
 *   address              5 * the class of the difference + the class of the
 *                        offset; plus TRELLIS_TIED
 *   attributes           0, 1, 2, 3, 4 for exactly 0, 1, 2, 4, 8 bytes;
 *                        FIELD_CLASS_SHORT or _LONG for other lengths
 */
enum {
	FIELD_CLASS_CHANGED = 4, /* size: not that of the use before */
	FIELD_CLASS_UNUSED =
		TRELLIS_TIED | 31, /* the record has no such field */
	FIELD_CLASS_SHORT = 5,	   /* any length up to 255 */
	FIELD_CLASS_LONG = 6,
};

/* A state outside the trellis; and the width of a state that is not used. */
#define FIELD_STATE_OTHER    TRELLIS_STATES
#define FIELD_STATE_NO_WIDTH 255

/* The state in which time, thread, heap and attributes are not stored. */
#define FIELD_STATE_EMPTY 1

/* The rules of the trellis of each field; constant once initialised. */
struct field_states {
	/* 'delta' has the rules of time, thread and heap. */
	struct trellis_rules size, address, delta, attributes;
};

/* Fill in the rules. */
void field_states_init(struct field_states *s);

/* Return the width code of a state; under default, the last width. */
unsigned field_state_width(unsigned field, unsigned state);

/* Return the interpretation of a state. */
enum hatf_interpretation field_state_interpretation(unsigned field,
						    unsigned state);

/* Return the state of a field; FIELD_STATE_OTHER if it is not in the table. */
unsigned field_state_of(unsigned field, const struct layout_field *f);

/* Set the costs of all states of the first group, and of the second. */
void field_states_set(struct trellis_costs *c, int first, int second);

#endif /* HATF_FIELD_STATES_H */
