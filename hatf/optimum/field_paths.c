/* SPDX-License-Identifier: MIT */
/*
 * field_paths.c - the forward pass of the shortest path, see field_paths.h
 *
 * An episode is a sequence of uses under one interpretation.  The pass goes
 * from use to use with the costs of all episodes that may be in progress:
 *
 *   none        stores the values themselves
 *   delta       stores the differences; the first value is the 'initialValue',
 *               so it costs nothing
 *   default     the first use sets the value; the episode continues while the
 *               value stays the same
 *   stride      the first two uses set value and stride; from the third use on,
 *               the episode continues while the difference stays the same
 *   baseOffset  stores the offsets; bases.h keeps the costs for every base
 */
#include "hatf/optimum/field_paths.h"

#include <stdlib.h>
#include <string.h>

struct field_paths *
field_paths_new(size_t value_count)
{
	struct field_paths *const p = calloc(1, sizeof(*p));
	const size_t count = value_count + 1;

	if (p == NULL)
		return NULL;
	p->values = malloc(count * sizeof(*p->values));
	p->records = malloc(count * sizeof(*p->records));
	p->tied = malloc(count * sizeof(*p->tied));
	p->gaps = aligned_alloc(_Alignof(struct field_paths_gap),
				count * sizeof(*p->gaps));
	p->choices = malloc(count * sizeof(*p->choices));
	p->episodes = malloc(count * sizeof(*p->episodes));
	if (bases_init(&p->bases, value_count) && p->values != NULL &&
	    p->records != NULL && p->tied != NULL && p->gaps != NULL &&
	    p->choices != NULL && p->episodes != NULL)
		return p;
	field_paths_free(p);
	return NULL;
}

void
field_paths_free(struct field_paths *p)
{
	if (p == NULL)
		return;
	bases_fini(&p->bases);
	free(p->values);
	free(p->records);
	free(p->tied);
	free(p->gaps);
	free(p->choices);
	free(p->episodes);
	free(p);
}

void
field_paths_clear(struct field_paths *p)
{
	p->count = 0;
}

void
field_paths_add(struct field_paths *p, uint64_t value, uint32_t record,
		bool tied)
{
	p->values[p->count] = value;
	p->records[p->count] = record;
	p->tied[p->count++] = tied;
}

size_t
field_paths_change_max(size_t value_count)
{
	/*
	 * Each use may need two metadata records, for an interpretation and a
	 * width.  The start of a block may need up to three more, even if the
	 * field has no use.
	 */
	return 2 * value_count + 3;
}

static const int32_t entry_cost[] = {
	[HATF_NONE] = COST_NONE,	 [HATF_DEFAULT] = COST_VALUE,
	[HATF_BASE_OFFSET] = COST_VALUE, [HATF_DELTA] = COST_VALUE,
	[HATF_STRIDE] = COST_STRIDE,
};

/*
 * At the start of a block, metadata must also set a nonzero width, which
 * becomes the last width, even if the field already has this last width, and
 * even if another record then sets width 0.  Otherwise, the cost of a block
 * would depend on the blocks before it, and the best choice for each block
 * would not be the best for all blocks.
 */
struct costs
field_paths_begin(const struct field_paths *p, size_t i,
		  unsigned interpretation)
{
	const struct field_paths_gap *const g = &p->gaps[i];
	const bool stores = !field_paths_is_computed(interpretation);
	const int32_t cost = entry_cost[interpretation];
	struct costs c = COSTS_INFINITE;

	if (i == 0 && p->restart) {
		if (stores)
			c.stored = COST4_ZERO + cost + COST_WIDTH;
		c.empty = COST4_ZERO + cost + 2 * COST_WIDTH;
	} else {
		const cost4 never = COST4_ZERO + g->never;
		const cost4 least = cost4_min(cost4_least(g->cost), never);

		if (stores)
			c.stored =
				cost4_min(g->cost, least + COST_WIDTH) + cost;
		c.empty = g->cost + cost + (stores ? COST_WIDTH : 0);
		c.never = g->never + cost;
	}
	return costs_min(costs_add(c, p->rules.forbidden[interpretation]),
			 COSTS_INFINITE);
}

/* ------------------------------------------------------------- forward pass */

/*
 * The costs of all episodes in progress, except those under baseOffset
 * (bases.h).  A stride episode is 'fresh' after its first use, and 'regular'
 * after each later use.
 */
struct open_episodes {
	struct costs none, delta, default_value, fresh, regular;
	uint64_t previous, difference;
};

static void
gap_clear(struct field_paths_gap *g)
{
	g->cost = COST4_INFINITE;
	g->never = COST_INFINITE;
}

static void
gap_note(struct field_paths_gap *g, const struct costs *c,
	 unsigned interpretation)
{
	const cost4 is_empty = c->empty < c->stored;
	const cost4 cost = cost4_min(c->stored, c->empty);
	const cost4 from =
		(is_empty & FIELD_PATHS_EMPTY) | (int32_t)interpretation;
	const cost4 less = cost < g->cost;

	g->cost = (cost & less) | (g->cost & ~less);
	g->from = (from & less) | (g->from & ~less);
	if (c->never < g->never) {
		g->never = c->never;
		g->never_from = (int32_t)interpretation | FIELD_PATHS_EMPTY;
	}
}

static void
gap_note_bases(struct field_paths_gap *g, const struct bases *b)
{
	for (unsigned i = 0; i < FIELD_PATHS_NEVER; i++) {
		const size_t index = (size_t)b->best_index[i];
		const struct costs *const c = bases_costs(b, index);

		if (b->best[i] >= g->cost[i])
			continue;
		g->cost[i] = b->best[i];
		g->from[i] = HATF_BASE_OFFSET;
		if (c->empty[i] < c->stored[i])
			g->from[i] |= FIELD_PATHS_EMPTY;
		g->base[i] = bases_pick(b, index);
	}
	if (b->never < g->never) {
		g->never = b->never;
		g->never_from = HATF_BASE_OFFSET | FIELD_PATHS_EMPTY;
		g->base[FIELD_PATHS_NEVER] =
			bases_pick(b, (size_t)b->never_index);
	}
}

/*
 * Start from the field's state before the span, as an episode in progress.  If
 * a block begins, start without an episode.
 */
static void
open_episodes_start(struct open_episodes *c, struct field_paths *p)
{
	const struct layout_field *const f = p->state;
	struct costs *const costs[] = {
		[HATF_NONE] = &c->none,	     [HATF_DEFAULT] = &c->default_value,
		[HATF_BASE_OFFSET] = NULL,   [HATF_DELTA] = &c->delta,
		[HATF_STRIDE] = &c->regular,
	};
	struct field_paths_gap *const g = &p->gaps[0];
	const unsigned last =
		field_paths_last_width(field_paths_lane(p->state));
	struct costs start = COSTS_INFINITE;

	c->none = c->delta = c->default_value = COSTS_INFINITE;
	c->fresh = c->regular = COSTS_INFINITE;
	c->previous = f->origin - f->step;
	c->difference = f->step;
	gap_clear(g);
	if (p->restart)
		return;
	if (last == FIELD_PATHS_NEVER)
		g->never = 0;
	else
		g->cost[last] = 0;
	costs_set_lane(&start, field_paths_lane(p->state), 0);
	if (f->interpretation == HATF_BASE_OFFSET)
		bases_enter(&p->bases, f->origin, &start);
	else
		*costs[f->interpretation] = start;
}

static void
use_none(struct field_paths *p, struct costs *c, size_t i)
{
	const unsigned fits = cost_fits_unsigned(p->values[i]);

	if (!p->tied[i]) {
		const struct costs begin = field_paths_begin(p, i, HATF_NONE);

		*c = costs_switch(*c, &p->rules.forbidden[HATF_NONE]);
		*c = costs_min(*c, begin);
	}
	*c = costs_add(*c, costs_of_use[fits]);
}

static void
use_delta(struct field_paths *p, struct costs *c, size_t i, uint64_t difference)
{
	const unsigned fits = cost_fits_signed(difference);

	if (p->tied[i]) {
		*c = costs_add(*c, costs_of_use[fits]);
		return;
	}

	const struct costs begin = field_paths_begin(p, i, HATF_DELTA);

	*c = costs_switch(*c, &p->rules.forbidden[HATF_DELTA]);
	*c = costs_min(costs_add(*c, costs_of_use[fits]),
		       costs_add(begin, costs_of_use[4]));
}

static void
use_default(struct field_paths *p, struct costs *c, size_t i, bool same)
{
	if (!same)
		*c = COSTS_INFINITE;
	if (!p->tied[i])
		*c = costs_min(*c, field_paths_begin(p, i, HATF_DEFAULT));
}

static void
use_stride(struct field_paths *p, struct open_episodes *c, size_t i, bool same)
{
	if (!same)
		c->regular = COSTS_INFINITE;
	c->regular = costs_min(c->regular, c->fresh);
	if (p->tied[i])
		c->fresh = COSTS_INFINITE;
	else
		c->fresh = field_paths_begin(p, i, HATF_STRIDE);
}

static void
use_bases(struct field_paths *p, size_t i)
{
	if (!p->tied[i]) {
		const struct costs begin =
			field_paths_begin(p, i, HATF_BASE_OFFSET);

		bases_switch(&p->bases, &begin);
	}
	bases_use(&p->bases, p->values[i]);
	gap_note_bases(&p->gaps[i + 1], &p->bases);
}

/* Compute the costs after use 'i', and then in the gap after this use. */
static void
use(struct field_paths *p, struct open_episodes *c, size_t i)
{
	struct field_paths_gap *const g = &p->gaps[i + 1];
	const uint64_t difference = p->values[i] - c->previous;

	gap_clear(g);
	if (p->rules.allowed[HATF_NONE]) {
		use_none(p, &c->none, i);
		gap_note(g, &c->none, HATF_NONE);
	}
	if (p->rules.allowed[HATF_DEFAULT]) {
		use_default(p, &c->default_value, i, difference == 0);
		gap_note(g, &c->default_value, HATF_DEFAULT);
	}
	if (p->rules.allowed[HATF_DELTA]) {
		use_delta(p, &c->delta, i, difference);
		gap_note(g, &c->delta, HATF_DELTA);
	}
	if (p->rules.allowed[HATF_STRIDE]) {
		use_stride(p, c, i, difference == c->difference);
		gap_note(g, &c->fresh, HATF_STRIDE);
		gap_note(g, &c->regular, HATF_STRIDE);
	}
	if (p->rules.allowed[HATF_BASE_OFFSET])
		use_bases(p, i);
	c->previous = p->values[i];
	c->difference = difference;
}

/*
 * A snapshot compares at most this many ranges of bases.  A snapshot with more
 * ranges never equals another one.
 */
#define SNAPSHOT_RANGES 16

/*
 * A snapshot of everything on which the next costs depend, apart from the value
 * of the next use.  While a value repeats, the costs soon stop changing: an
 * episode that stores nothing for the value costs nothing more, and an episode
 * that stores bytes for the value soon costs more than a new episode.  If one
 * use leaves the snapshot as it was, find_gap_costs() copies the costs for the
 * further uses of the value, instead of computing them.
 */
struct snapshot {
	struct open_episodes open;
	cost4 cost;
	int32_t never;
	size_t range_count;
	uint64_t starts[SNAPSHOT_RANGES];
	struct costs ranges[SNAPSHOT_RANGES];
};

/* While a value repeats, take a snapshot every SNAPSHOT_INTERVAL uses. */
#define SNAPSHOT_INTERVAL 16

static void
snapshot_save(struct snapshot *s, const struct field_paths *p,
	      const struct open_episodes *c, const struct field_paths_gap *g)
{
	s->open = *c;
	s->cost = g->cost;
	s->never = g->never;
	s->range_count = p->bases.count;
	for (size_t i = 0; i < p->bases.count && i < SNAPSHOT_RANGES; i++) {
		s->starts[i] = p->bases.ranges[i].start;
		s->ranges[i] = *bases_costs(&p->bases, i);
	}
}

static bool
snapshot_is_same(const struct snapshot *s, const struct field_paths *p,
		 const struct open_episodes *c, const struct field_paths_gap *g)
{
	const cost4 differ = s->cost ^ g->cost;
	bool same = s->never == g->never && s->range_count == p->bases.count &&
		    s->range_count <= SNAPSHOT_RANGES &&
		    (differ[0] | differ[1] | differ[2] | differ[3]) == 0 &&
		    costs_equal(&s->open.none, &c->none) &&
		    costs_equal(&s->open.delta, &c->delta) &&
		    costs_equal(&s->open.default_value, &c->default_value) &&
		    costs_equal(&s->open.fresh, &c->fresh) &&
		    costs_equal(&s->open.regular, &c->regular);

	for (size_t i = 0; same && i < s->range_count; i++)
		same = s->starts[i] == p->bases.ranges[i].start &&
		       costs_equal(&s->ranges[i], bases_costs(&p->bases, i));
	return same;
}

static void
find_gap_costs(struct field_paths *p)
{
	struct open_episodes c;
	struct snapshot snapshot;
	bool repeats = false;
	/* number of consecutive uses of the same value, up to now */
	size_t run = 0;

	memset(&snapshot, 0, sizeof(snapshot));
	open_episodes_start(&c, p);
	for (size_t i = 0; i < p->count; i++) {
		const struct field_paths_gap *const g = &p->gaps[i + 1];

		if (p->values[i] != c.previous || p->tied[i]) {
			run = 0;
			repeats = false;
		}
		if (repeats) {
			p->gaps[i + 1] = p->gaps[i];
			continue;
		}
		use(p, &c, i);
		run++;
		if (run % SNAPSHOT_INTERVAL == 0)
			snapshot_save(&snapshot, p, &c, g);
		else if (run > SNAPSHOT_INTERVAL &&
			 run % SNAPSHOT_INTERVAL == 1)
			repeats = snapshot_is_same(&snapshot, p, &c, g);
	}
}

void
field_paths_find_costs(struct field_paths *p, unsigned field,
		       const struct layout_field *state, bool restart,
		       const struct technique_field *technique)
{
	p->field = field;
	p->state = state;
	p->restart = restart;
	if (p->count == 0)
		return;
	/*
	 * Use the memory of the gaps as scratch memory for the values.  The
	 * memory of the gaps is large enough, and is not in use yet.
	 */
	rules_init(&p->rules, technique, p->values, p->count,
		   (uint64_t *)(void *)p->gaps);
	bases_start(&p->bases, p->rules.any_base, p->rules.base,
		    &p->rules.forbidden[HATF_BASE_OFFSET]);
	find_gap_costs(p);
}
