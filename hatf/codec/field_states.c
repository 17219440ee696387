/* SPDX-License-Identifier: MIT */
/*
 * field_states.c - see field_states.h
 */
#include "hatf/codec/field_states.h"

/*
 * Extra cost of storing an address as a delta of 4 bytes.  This cost makes an
 * offset of 4 bytes the better choice: a repeated address has the same offset
 * each time, but seldom the same delta, and repeated bytes compress well.
 */
#define DELTA_TOLL 1

/*
 * The width code of each state.  For a state with the interpretation 'default',
 * it is the code of the last width before that state.
 */
static const uint8_t size_widths[TRELLIS_STATES] = { 1, 1, 2, 2, 4, 4, 8, 8 };
static const uint8_t address_widths[TRELLIS_STATES] = {
	1, 0, 2, 2, 4, 4, 0, 8,
};
static const uint8_t delta_widths[TRELLIS_STATES] = {
	1, 0,
	2, FIELD_STATE_NO_WIDTH,
	4, FIELD_STATE_NO_WIDTH,
	8, FIELD_STATE_NO_WIDTH,
};
static const uint8_t attributes_widths[TRELLIS_STATES] = {
	1, 0, 2, HATF_WIDTH_V1, 4, HATF_WIDTH_V2, 8, FIELD_STATE_NO_WIDTH,
};

static const uint8_t *const widths[HATF_FIELD_COUNT] = {
	[HATF_FIELD_SIZE] = size_widths,
	[HATF_FIELD_ADDRESS] = address_widths,
	[HATF_FIELD_TIME] = delta_widths,
	[HATF_FIELD_THREAD] = delta_widths,
	[HATF_FIELD_HEAP] = delta_widths,
	[HATF_FIELD_ATTRIBUTES] = attributes_widths,
};

static bool
is_second(unsigned state)
{
	return state & 1;
}

enum hatf_interpretation
field_state_interpretation(unsigned field, unsigned state)
{
	switch (field) {
	case HATF_FIELD_SIZE:
		return is_second(state) ? HATF_DEFAULT : HATF_NONE;
	case HATF_FIELD_ADDRESS:
		return is_second(state) ? HATF_BASE_OFFSET : HATF_DELTA;
	case HATF_FIELD_ATTRIBUTES:
		return HATF_NONE;
	default:
		return HATF_DELTA;
	}
}

unsigned
field_state_width(unsigned field, unsigned state)
{
	return widths[field][state];
}

unsigned
field_state_of(unsigned field, const struct layout_field *f)
{
	const unsigned width =
		f->interpretation == HATF_DEFAULT ? f->last_width : f->width;

	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		if (widths[field][i] == width &&
		    field_state_interpretation(field, i) == f->interpretation)
			return i;
	return FIELD_STATE_OTHER;
}

void
field_states_set(struct trellis_costs *c, int first, int second)
{
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		c->state[i] = (int16_t)(is_second(i) ? second : first);
}

/*
 * Set all costs to 0, but forbid these changes of state:
 *
 *   - to another state of the same group, before any tied use (TRELLIS_TIED);
 *   - to the other group, before a use of class FIELD_CLASS_UNUSED.
 */
static void
init_rules(struct trellis_rules *r)
{
	memset(r, 0, sizeof(*r));
	field_states_set(&r->within[1], TRELLIS_NEVER, TRELLIS_NEVER);
	field_states_set(&r->enter[FIELD_CLASS_UNUSED], TRELLIS_NEVER,
			 TRELLIS_NEVER);
}

/*
 * Return the cost of storing a number that needs 'needed' bytes in a field of
 * this width; TRELLIS_NEVER if the number does not fit.
 */
static int
number_cost(unsigned width, unsigned needed)
{
	if (width == FIELD_STATE_NO_WIDTH || width < needed)
		return TRELLIS_NEVER;
	return (int)width;
}

static void
init_size_rules(struct trellis_rules *r)
{
	init_rules(r);
	field_states_set(&r->within[0], FIELD_STATE_WIDTH_COST, TRELLIS_NEVER);
	field_states_set(&r->across, FIELD_STATE_VALUE_COST,
			 FIELD_STATE_WIDTH_COST);
	field_states_set(&r->aslant, TRELLIS_NEVER, 2 * FIELD_STATE_WIDTH_COST);
	for (unsigned class = 0; class < 2 * FIELD_CLASS_CHANGED; class ++) {
		const unsigned needed = 1u << class % FIELD_CLASS_CHANGED;
		const bool changed = class & FIELD_CLASS_CHANGED;

		for (unsigned i = 0; i < TRELLIS_STATES; i++) {
			int stay = number_cost(size_widths[i], needed);
			int enter = stay;

			if (is_second(i)) {
				stay = changed ? FIELD_STATE_VALUE_COST : 0;
				enter = 0;
			}
			r->stay[class].state[i] = (int16_t)stay;
			r->enter[class].state[i] = (int16_t)enter;
		}
	}
}

/*
 * Return how many bytes a difference or offset of this class needs (see
 * field_states.h).
 */
static unsigned
delta_needed(unsigned class)
{
	return class == 0 ? 0 : 1u << (class - 1);
}

/* Set the costs of one class of the address (see field_states.h). */
static void
init_address_costs(struct trellis_rules *r, unsigned class)
{
	const unsigned delta = delta_needed(class % TRELLIS_TIED / 5);
	const unsigned offset = delta_needed(class % TRELLIS_TIED % 5);

	for (unsigned i = 0; i < TRELLIS_STATES; i++) {
		const unsigned width = address_widths[i];
		int stay = number_cost(width, offset);
		int enter = stay;

		if (!is_second(i)) {
			const int toll = width == 4 ? DELTA_TOLL : 0;

			/*
			 * If the field changes to delta before this use, the
			 * 'initialValue' is the value of the use, so the stored
			 * difference is 0.
			 */
			stay = toll + number_cost(width, delta);
			enter = toll + number_cost(width, 0);
		}
		if (class & TRELLIS_TIED)
			enter = TRELLIS_NEVER;
		r->stay[class].state[i] = (int16_t)stay;
		r->enter[class].state[i] = (int16_t)enter;
	}
}

static void
init_address_rules(struct trellis_rules *r)
{
	init_rules(r);
	field_states_set(&r->within[0], FIELD_STATE_WIDTH_COST,
			 FIELD_STATE_WIDTH_COST);
	field_states_set(&r->across, FIELD_STATE_VALUE_COST,
			 FIELD_STATE_VALUE_COST);
	field_states_set(&r->aslant,
			 FIELD_STATE_VALUE_COST + FIELD_STATE_WIDTH_COST,
			 FIELD_STATE_VALUE_COST + FIELD_STATE_WIDTH_COST);
	/*
	 * States i and i ^ 1 are partners: they are at the same position of the
	 * two groups in the table of field_states.h.  In two of the four pairs,
	 * the widths of the partners differ.  A change between such partners
	 * costs as much as a change between states that are not partners.
	 */
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		if (address_widths[i] != address_widths[i ^ 1])
			r->across.state[i] = r->aslant.state[i];
	for (unsigned class = 0; class < 25; class ++) {
		init_address_costs(r, class);
		init_address_costs(r, class | TRELLIS_TIED);
	}
}

static void
init_delta_rules(struct trellis_rules *r)
{
	init_rules(r);
	field_states_set(&r->within[0], FIELD_STATE_WIDTH_COST,
			 FIELD_STATE_WIDTH_COST);
	field_states_set(&r->across, FIELD_STATE_WIDTH_COST,
			 FIELD_STATE_WIDTH_COST);
	field_states_set(&r->aslant, FIELD_STATE_WIDTH_COST,
			 FIELD_STATE_WIDTH_COST);
	for (unsigned class = 0; class < 5; class ++) {
		for (unsigned i = 0; i < TRELLIS_STATES; i++)
			r->stay[class].state[i] = (int16_t)number_cost(
				delta_widths[i], delta_needed(class));
		r->enter[class] = r->stay[class];
	}
}

/* Return what a record's attributes cost in addition to their own bytes. */
static int16_t
attributes_cost(unsigned state, unsigned class)
{
	switch (attributes_widths[state]) {
	case 0:
		return class == 0 ? 0 : TRELLIS_NEVER;
	case HATF_WIDTH_V1:
		return class < FIELD_CLASS_LONG ? 1 : TRELLIS_NEVER;
	case HATF_WIDTH_V2:
		return 2;
	case FIELD_STATE_NO_WIDTH:
		return TRELLIS_NEVER;
	default:
		return class == 1 + state / 2 ? 0 : TRELLIS_NEVER;
	}
}

static void
init_attributes_rules(struct trellis_rules *r)
{
	init_rules(r);
	field_states_set(&r->within[0], FIELD_STATE_WIDTH_COST,
			 FIELD_STATE_WIDTH_COST);
	field_states_set(&r->across, FIELD_STATE_WIDTH_COST,
			 FIELD_STATE_WIDTH_COST);
	field_states_set(&r->aslant, FIELD_STATE_WIDTH_COST,
			 FIELD_STATE_WIDTH_COST);
	for (unsigned class = 0; class <= FIELD_CLASS_LONG; class ++) {
		for (unsigned i = 0; i < TRELLIS_STATES; i++)
			r->stay[class].state[i] = attributes_cost(i, class);
		r->enter[class] = r->stay[class];
	}
}

void
field_states_init(struct field_states *s)
{
	init_size_rules(&s->size);
	init_address_rules(&s->address);
	init_delta_rules(&s->delta);
	init_attributes_rules(&s->attributes);
}
