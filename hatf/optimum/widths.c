/* SPDX-License-Identifier: MIT */
/*
 * widths.c - see widths.h
 */
#include "hatf/optimum/widths.h"

#include "hatf/optimum/costs.h"

#include <stdlib.h>

#define CODE_COUNT 7

/*
 * The field's state before the first metadata of the span.  A use can keep this
 * state only if the field is under "default", no block begins, and neither this
 * record nor an earlier one in the span has attributes.
 */
#define OUTSIDE CODE_COUNT

static const uint8_t codes[CODE_COUNT] = {
	0, 1, 2, 4, 8, HATF_WIDTH_V1, HATF_WIDTH_V2,
};

struct use {
	uint32_t nbytes;
	uint32_t record;
	/*
	 * from[i] is the state at the previous use, on the cheapest path to
	 * state i at this use.
	 */
	uint8_t from[CODE_COUNT];
	uint8_t state; /* the state that was chosen for this use */
};

struct widths {
	size_t count;
	struct use *uses;
};

struct widths *
widths_new(size_t value_count)
{
	struct widths *const w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->uses = malloc((value_count + 1) * sizeof(*w->uses));
	if (w->uses == NULL) {
		free(w);
		return NULL;
	}
	return w;
}

void
widths_free(struct widths *w)
{
	if (w == NULL)
		return;
	free(w->uses);
	free(w);
}

void
widths_clear(struct widths *w)
{
	w->count = 0;
}

void
widths_add(struct widths *w, uint32_t nbytes, uint32_t record)
{
	w->uses[w->count].nbytes = nbytes;
	w->uses[w->count++].record = record;
}

/*
 * Return the number of bytes that a state stores in addition to the 'nbytes'
 * bytes of the attributes.  Return COST_INFINITE if the attributes do not fit
 * the state.
 */
static int32_t
overhead(unsigned state, uint32_t nbytes)
{
	if (codes[state] == HATF_WIDTH_V1)
		return nbytes <= UINT8_MAX ? 1 : COST_INFINITE;
	if (codes[state] == HATF_WIDTH_V2)
		return 2;
	return nbytes == codes[state] ? 0 : COST_INFINITE;
}

/*
 * For each state, compute the cost of the metadata that leads from OUTSIDE to
 * the state:
 *
 * - At the beginning of a block, the metadata sets "none" and then the width.
 *   For width 0, the metadata first sets another width, which becomes the last
 *   width.
 * - Inside a block, under "default", the metadata sets "none", which restores
 *   the last width, and then the width, if it differs from the last width.
 * - Inside a block, under "none", the metadata sets the width, if it differs
 *   from the present width.
 */
static void
entry_costs(const struct layout_field *f, bool restart, int32_t *cost)
{
	const bool is_none = f->interpretation == HATF_NONE;
	const unsigned width = is_none ? f->width : f->last_width;

	for (unsigned i = 0; i < CODE_COUNT; i++) {
		cost[i] = is_none && !restart ? 0 : COST_NONE;
		if (restart || codes[i] != width)
			cost[i] += COST_WIDTH;
	}
	if (restart)
		cost[0] += COST_WIDTH;
}

static unsigned
least(const int32_t *cost)
{
	unsigned best = 0;

	for (unsigned i = 1; i < CODE_COUNT; i++)
		if (cost[i] < cost[best])
			best = i;
	return best;
}

/*
 * Extend the cheapest path to each state by 'use'.  'outside' is the cost of
 * OUTSIDE before the use.
 */
static void
step(struct use *use, int32_t *cost, const int32_t *entry, int32_t outside,
     const bool *allowed)
{
	const unsigned best = least(cost);
	const int32_t changed = cost[best] + COST_WIDTH;

	for (unsigned i = 0; i < CODE_COUNT; i++) {
		use->from[i] = (uint8_t)i;
		if (changed < cost[i]) {
			cost[i] = changed;
			use->from[i] = (uint8_t)best;
		}
		if (outside + entry[i] < cost[i]) {
			cost[i] = outside + entry[i];
			use->from[i] = OUTSIDE;
		}
		cost[i] +=
			allowed[i] ? overhead(i, use->nbytes) : COST_INFINITE;
		cost[i] = cost_min(cost[i], COST_INFINITE);
	}
}

/*
 * If 'any' is true, allow all states.  Otherwise, allow only the cheapest state
 * that suits every use.
 */
static void
allow(const struct widths *w, bool any, bool *allowed)
{
	int32_t sum[CODE_COUNT] = { 0 };

	for (size_t use = 0; use < w->count; use++)
		for (unsigned i = 0; i < CODE_COUNT; i++)
			sum[i] = cost_min(
				COST_INFINITE,
				sum[i] + overhead(i, w->uses[use].nbytes));
	for (unsigned i = 0; i < CODE_COUNT; i++)
		allowed[i] = any || i == least(sum);
}

static struct place_change *
put(struct place_change *out, uint32_t before, unsigned op, unsigned argument)
{
	*out = (struct place_change){
		.before = before,
		.metadata = { .op = (uint8_t)op,
			      .field = HATF_FIELD_ATTRIBUTES,
			      .argument = (uint8_t)argument },
	};
	return out + 1;
}

static struct place_change *
put_entry(struct place_change *out, const struct layout_field *f, bool restart,
	  uint32_t before, unsigned width)
{
	unsigned now = f->width;

	if (restart || f->interpretation != HATF_NONE) {
		out = put(out, before, HATF_SET_FIELD_INTERPRETATION,
			  HATF_NONE);
		now = f->last_width;
	}
	if (restart && width == 0)
		out = put(out, before, HATF_SET_FIELD_SIZE, now == 0 ? 1 : now);
	if (width != now || restart)
		out = put(out, before, HATF_SET_FIELD_SIZE, width);
	return out;
}

/* Follow the choices backwards, from the last use to the first. */
static void
choose(struct widths *w, unsigned state)
{
	for (size_t i = w->count; i-- > 0;) {
		w->uses[i].state = (uint8_t)state;
		if (state != OUTSIDE)
			state = w->uses[i].from[state];
	}
}

size_t
widths_place(struct widths *w, const struct layout_field *state, bool restart,
	     bool any, struct place_change *changes)
{
	struct place_change *out = changes;
	bool allowed[CODE_COUNT];
	int32_t cost[CODE_COUNT], entry[CODE_COUNT];
	int32_t outside = 0;
	unsigned last = OUTSIDE;

	entry_costs(state, restart, entry);
	allow(w, any, allowed);
	for (unsigned i = 0; i < CODE_COUNT; i++)
		cost[i] = COST_INFINITE;
	for (size_t i = 0; i < w->count; i++) {
		step(&w->uses[i], cost, entry, outside, allowed);
		if (restart || state->interpretation == HATF_NONE ||
		    w->uses[i].nbytes != 0)
			outside = COST_INFINITE;
	}
	choose(w, outside == 0 ? OUTSIDE : least(cost));
	if (restart && w->count == 0)
		return (size_t)(put_entry(out, state, true, 0, 0) - changes);
	for (size_t i = 0; i < w->count; i++) {
		const struct use *const use = &w->uses[i];

		if (use->state != last && last != OUTSIDE)
			out = put(out, use->record, HATF_SET_FIELD_SIZE,
				  codes[use->state]);
		else if (use->state != last)
			out = put_entry(out, state, restart,
					restart ? 0 : use->record,
					codes[use->state]);
		last = use->state;
	}
	return (size_t)(out - changes);
}
