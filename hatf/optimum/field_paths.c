/* SPDX-License-Identifier: MIT */
/*
 * field_paths.c - the forward pass of the shortest path, see field_paths.h
 *
 * It keeps, use by use, the costs of all episodes that may be in progress:
 *
 *   none        stores the values themselves
 *   delta       stores the differences; the first value costs nothing, as it is
 *               the 'initialValue'
 *   default     continues while the value stays the same; the first use sets it
 *   stride      the first two uses set value and stride; from the third on
 *               ('regular') it continues while the difference stays the same
 *   baseOffset  for every base: bases.h
 */
#include "hatf/optimum/field_paths.h"

#include <stdlib.h>
#include <string.h>

struct field_paths *
field_paths_new(size_t value_count)
{
	struct field_paths *const n = calloc(1, sizeof(*n));
	const size_t count = value_count + 1;

	if (n == NULL)
		return NULL;
	n->values = malloc(count * sizeof(*n->values));
	n->records = malloc(count * sizeof(*n->records));
	n->tied = malloc(count * sizeof(*n->tied));
	n->gaps = aligned_alloc(_Alignof(struct field_paths_gap),
				count * sizeof(*n->gaps));
	n->choices = malloc(count * sizeof(*n->choices));
	n->episodes = malloc(count * sizeof(*n->episodes));
	if (bases_init(&n->bases, value_count) && n->values != NULL &&
	    n->records != NULL && n->tied != NULL && n->gaps != NULL &&
	    n->choices != NULL && n->episodes != NULL)
		return n;
	field_paths_free(n);
	return NULL;
}

void
field_paths_free(struct field_paths *n)
{
	if (n == NULL)
		return;
	bases_fini(&n->bases);
	free(n->values);
	free(n->records);
	free(n->tied);
	free(n->gaps);
	free(n->choices);
	free(n->episodes);
	free(n);
}

void
field_paths_clear(struct field_paths *n)
{
	n->count = 0;
}

void
field_paths_add(struct field_paths *n, uint64_t value, uint32_t record,
		bool tied)
{
	n->values[n->count] = value;
	n->records[n->count] = record;
	n->tied[n->count++] = tied;
}

size_t
field_paths_change_max(size_t value_count)
{
	/*
	 * An interpretation and a width for each, and a third record to begin a
	 * block.
	 */
	return 2 * value_count + 3;
}

static const int32_t entry_cost[] = {
	[HATF_NONE] = COST_NONE,	 [HATF_DEFAULT] = COST_VALUE,
	[HATF_BASE_OFFSET] = COST_VALUE, [HATF_DELTA] = COST_VALUE,
	[HATF_STRIDE] = COST_STRIDE,
};

/*
 * At the start of a block the last width must be set, too, even in a state of
 * width 0 and whatever it was.  The cost of a block must not depend on earlier
 * blocks, or the best of each block would not be the best of all.
 */
struct costs
field_paths_begin(const struct field_paths *n, size_t i,
		  unsigned interpretation)
{
	const struct field_paths_gap *const g = &n->gaps[i];
	const bool stores = !field_paths_is_held(interpretation);
	const int32_t cost = entry_cost[interpretation];
	struct costs c = COSTS_INFINITE;

	if (i == 0 && n->restart) {
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
	return costs_min(costs_add(c, n->rules.forbidden[interpretation]),
			 COSTS_INFINITE);
}

/* ------------------------------------------------------------- forward pass */

/* The costs of all episodes in progress except those under baseOffset. */
struct course {
	struct costs none, delta, constant, fresh, regular;
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

/* Start from the state before the window, as an episode in progress. */
static void
course_start(struct course *c, struct field_paths *n)
{
	const struct layout_field *const f = n->state;
	struct costs *const costs[] = {
		[HATF_NONE] = &c->none,	     [HATF_DEFAULT] = &c->constant,
		[HATF_BASE_OFFSET] = NULL,   [HATF_DELTA] = &c->delta,
		[HATF_STRIDE] = &c->regular,
	};
	struct field_paths_gap *const g = &n->gaps[0];
	const unsigned last =
		field_paths_last_width(field_paths_lane(n->state));
	struct costs start = COSTS_INFINITE;

	c->none = c->delta = c->constant = COSTS_INFINITE;
	c->fresh = c->regular = COSTS_INFINITE;
	c->previous = f->origin - f->step;
	c->difference = f->step;
	gap_clear(g);
	if (n->restart)
		return;
	if (last == FIELD_PATHS_NEVER)
		g->never = 0;
	else
		g->cost[last] = 0;
	costs_set_lane(&start, field_paths_lane(n->state), 0);
	if (f->interpretation == HATF_BASE_OFFSET)
		bases_enter(&n->bases, f->origin, &start);
	else
		*costs[f->interpretation] = start;
}

static void
use_none(struct field_paths *n, struct costs *c, size_t i)
{
	const unsigned fits = cost_fits_unsigned(n->values[i]);

	if (!n->tied[i]) {
		const struct costs begin = field_paths_begin(n, i, HATF_NONE);

		*c = costs_switch(*c, &n->rules.forbidden[HATF_NONE]);
		*c = costs_min(*c, begin);
	}
	*c = costs_add(*c, costs_of_use[fits]);
}

static void
use_delta(struct field_paths *n, struct costs *c, size_t i, uint64_t difference)
{
	const unsigned fits = cost_fits_signed(difference);

	if (n->tied[i]) {
		*c = costs_add(*c, costs_of_use[fits]);
		return;
	}

	const struct costs begin = field_paths_begin(n, i, HATF_DELTA);

	*c = costs_switch(*c, &n->rules.forbidden[HATF_DELTA]);
	*c = costs_min(costs_add(*c, costs_of_use[fits]),
		       costs_add(begin, costs_of_use[4]));
}

static void
use_default(struct field_paths *n, struct costs *c, size_t i, bool same)
{
	if (!same)
		*c = COSTS_INFINITE;
	if (!n->tied[i])
		*c = costs_min(*c, field_paths_begin(n, i, HATF_DEFAULT));
}

static void
use_stride(struct field_paths *n, struct course *c, size_t i, bool same)
{
	if (!same)
		c->regular = COSTS_INFINITE;
	c->regular = costs_min(c->regular, c->fresh);
	if (n->tied[i])
		c->fresh = COSTS_INFINITE;
	else
		c->fresh = field_paths_begin(n, i, HATF_STRIDE);
}

static void
use_bases(struct field_paths *n, size_t i)
{
	if (!n->tied[i]) {
		const struct costs begin =
			field_paths_begin(n, i, HATF_BASE_OFFSET);

		bases_switch(&n->bases, &begin);
	}
	bases_use(&n->bases, n->values[i]);
	gap_note_bases(&n->gaps[i + 1], &n->bases);
}

/* Compute the costs after use 'i' and the gap after it. */
static void
use(struct field_paths *n, struct course *c, size_t i)
{
	struct field_paths_gap *const g = &n->gaps[i + 1];
	const uint64_t difference = n->values[i] - c->previous;

	gap_clear(g);
	if (n->rules.allowed[HATF_NONE]) {
		use_none(n, &c->none, i);
		gap_note(g, &c->none, HATF_NONE);
	}
	if (n->rules.allowed[HATF_DEFAULT]) {
		use_default(n, &c->constant, i, difference == 0);
		gap_note(g, &c->constant, HATF_DEFAULT);
	}
	if (n->rules.allowed[HATF_DELTA]) {
		use_delta(n, &c->delta, i, difference);
		gap_note(g, &c->delta, HATF_DELTA);
	}
	if (n->rules.allowed[HATF_STRIDE]) {
		use_stride(n, c, i, difference == c->difference);
		gap_note(g, &c->fresh, HATF_STRIDE);
		gap_note(g, &c->regular, HATF_STRIDE);
	}
	if (n->rules.allowed[HATF_BASE_OFFSET])
		use_bases(n, i);
	c->previous = n->values[i];
	c->difference = difference;
}

/* The most ranges to compare. */
#define STILL_RANGES 16

/*
 * A snapshot of everything, besides the next use, that the next costs depend
 * on.  A value that repeats soon changes nothing: all ways to store it have
 * become more expensive than starting a new episode.
 */
struct still {
	struct course course;
	cost4 cost;
	int32_t never;
	size_t range_count;
	uint64_t starts[STILL_RANGES];
	struct costs ranges[STILL_RANGES];
};

/* Uses of the same value from one snapshot to the next. */
#define STILL_INTERVAL 16

static void
still_save(struct still *s, const struct field_paths *n, const struct course *c,
	   const struct field_paths_gap *g)
{
	s->course = *c;
	s->cost = g->cost;
	s->never = g->never;
	s->range_count = n->bases.count;
	for (size_t i = 0; i < n->bases.count && i < STILL_RANGES; i++) {
		s->starts[i] = n->bases.ranges[i].start;
		s->ranges[i] = *bases_costs(&n->bases, i);
	}
}

static bool
still_is_same(const struct still *s, const struct field_paths *n,
	      const struct course *c, const struct field_paths_gap *g)
{
	const cost4 differ = s->cost ^ g->cost;
	bool same = s->never == g->never && s->range_count == n->bases.count &&
		    s->range_count <= STILL_RANGES &&
		    (differ[0] | differ[1] | differ[2] | differ[3]) == 0 &&
		    costs_equal(&s->course.none, &c->none) &&
		    costs_equal(&s->course.delta, &c->delta) &&
		    costs_equal(&s->course.constant, &c->constant) &&
		    costs_equal(&s->course.fresh, &c->fresh) &&
		    costs_equal(&s->course.regular, &c->regular);

	for (size_t i = 0; same && i < s->range_count; i++)
		same = s->starts[i] == n->bases.ranges[i].start &&
		       costs_equal(&s->ranges[i], bases_costs(&n->bases, i));
	return same;
}

static void
go_there(struct field_paths *n)
{
	struct course c;
	struct still still;
	bool is_still = false;
	size_t run = 0; /* uses of the same value, up to the last one */

	memset(&still, 0, sizeof(still));
	course_start(&c, n);
	for (size_t i = 0; i < n->count; i++) {
		const struct field_paths_gap *const g = &n->gaps[i + 1];

		if (n->values[i] != c.previous || n->tied[i]) {
			run = 0;
			is_still = false;
		}
		if (is_still) {
			n->gaps[i + 1] = n->gaps[i];
			continue;
		}
		use(n, &c, i);
		run++;
		if (run % STILL_INTERVAL == 0)
			still_save(&still, n, &c, g);
		else if (run > STILL_INTERVAL && run % STILL_INTERVAL == 1)
			is_still = still_is_same(&still, n, &c, g);
	}
}

void
field_paths_find_costs(struct field_paths *n, unsigned field,
		       const struct layout_field *state, bool restart,
		       const struct technique_field *technique)
{
	n->field = field;
	n->state = state;
	n->restart = restart;
	if (n->count == 0)
		return;
	/* The gaps are not in use yet, and have room for the values. */
	rules_init(&n->rules, technique, n->values, n->count,
		   (uint64_t *)(void *)n->gaps);
	bases_start(&n->bases, n->rules.any_base, n->rules.base,
		    &n->rules.forbidden[HATF_BASE_OFFSET]);
	go_there(n);
}
