/* SPDX-License-Identifier: MIT */
/*
 * field_states.h - the states that place.c chooses between, and their costs
 *
 * A field has up to eight states in a trellis (trellis.h): a width under one of
 * two interpretations.
 *
 *   field                first group           second group
 *   size                 none: 1, 2, 4, 8      default, after 1, 2, 4, 8
 *   address              delta: 1, 2, 4, 0     baseOffset: 0, 2, 4, 8
 *   time, thread, heap   delta: 1, 2, 4, 8     delta: 0
 *   attributes           1, 2, 4, 8            0, v1, v2
 *
 * "default, after 2" means: the interpretation is default, and the last width
 * before it was 2.  A change from default to none restores that width without a
 * "set fieldSize" record.  Time, thread and heap need no default, because a
 * delta of 0 bytes also repeats the previous value, and changing its width
 * costs less: a "set fieldSize" record takes 4 bytes, and a record that sets a
 * default takes 12.  Under baseOffset, a field of 0 bytes has the value of the
 * base.
 *
 * These functions keep the rules of encoder.h for code in traced programs, and
 * any thread may call them.
 */
#ifndef HATF_FIELD_STATES_H
#define HATF_FIELD_STATES_H

#include "hatf/codec/layout.h"
#include "hatf/codec/trellis.h"

/*
 * Lengths of metadata records in bytes: one without a value (set fieldSize, or
 * set the interpretation to none), and one with a value.
 */
enum {
	FIELD_STATE_WIDTH_COST = 4,
	FIELD_STATE_VALUE_COST = 12,
};

/*
 * Each use of a field by a record has a class:
 *
 *   size                 0, 1, 2, 3 if the size needs 1, 2, 4, 8 bytes; plus
 *                        FIELD_CLASS_CHANGED if it differs from the previous
 *                        size; FIELD_CLASS_UNUSED for a free, and for the
 *                        second use of a realloc
 *   time, thread, heap   0, 1, 2, 3, 4 if the difference from the previous
 *                        value needs 0, 1, 2, 4, 8 bytes
 *   address              5 * the class of the difference from the previous
 *                        address + the class of the offset from the base, each
 *                        as for the time; plus TRELLIS_TIED for the second
 *                        address of a realloc
 *   attributes           0, 1, 2, 3, 4 for exactly 0, 1, 2, 4, 8 bytes;
 *                        FIELD_CLASS_SHORT or _LONG for other lengths
 */
enum {
	/* added to the class of a size that differs from the previous size */
	FIELD_CLASS_CHANGED = 4,
	FIELD_CLASS_UNUSED =
		TRELLIS_TIED | 31, /* the record stores no size at this use */
	/* attributes of at most 255 bytes, but not 0, 1, 2, 4 or 8 */
	FIELD_CLASS_SHORT = 5,
	FIELD_CLASS_LONG = 6,
};

/*
 * FIELD_STATE_OTHER: a state outside the trellis.  FIELD_STATE_NO_WIDTH: in the
 * tables of widths, the entry of a state that a field does not have, because
 * the field has fewer than eight states.
 */
#define FIELD_STATE_OTHER    TRELLIS_STATES
#define FIELD_STATE_NO_WIDTH 255

/* The state in which time, thread, heap and attributes take 0 bytes. */
#define FIELD_STATE_EMPTY 1

/*
 * For each field, the rules of its trellis.  They do not change once
 * initialized.
 */
struct field_states {
	/* 'delta' contains the rules for time, thread and heap. */
	struct trellis_rules size, address, delta, attributes;
};

/* Initialize the rules. */
void field_states_init(struct field_states *s);

/*
 * Return the width code of a state.  If the interpretation of the state is
 * default, return the code of the last width.
 */
unsigned field_state_width(unsigned field, unsigned state);

/* Return the interpretation that belongs to a state. */
enum hatf_interpretation field_state_interpretation(unsigned field,
						    unsigned state);

/*
 * Return the state of a field, or FIELD_STATE_OTHER if the trellis does not
 * have this state.
 */
unsigned field_state_of(unsigned field, const struct layout_field *f);

/*
 * Set the costs of each state of the first group to 'first', and of the second
 * group to 'second'.
 */
void field_states_set(struct trellis_costs *c, int first, int second);

#endif /* HATF_FIELD_STATES_H */
