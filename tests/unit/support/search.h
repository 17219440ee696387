/* SPDX-License-Identifier: MIT */
/*
 * search.h - find the least cost of a field by exhaustive search
 *
 * Goes, use by use, through all states that metadata can bring a field into, as
 * far as they can be of use for the given values.  Slow, but based on layout.h
 * alone: the reference for the optimum of short sequences.
 */
#ifndef TESTS_SEARCH_H
#define TESTS_SEARCH_H

#include "hatf/codec/layout.h"
#include "hatf/optimum/technique.h"
#include "tests/unit/support/judge.h"

#define STATE_MAX 30000
#define HASH_SIZE 65536

/*
 * The possible states of a field at a use, and the parameters that metadata may
 * set: all that can be of use for the given values.
 */
struct search {
	unsigned field;
	const struct technique_field *technique;
	struct hatf_metadata moves[512];
	size_t move_count;
	struct state {
		struct layout_field field,
			other; /* 'other': see search_begin */
		int cost;
		bool is_new;
	} states[STATE_MAX];
	size_t count;
	uint32_t hash[HASH_SIZE]; /* 1 + index */
};

static bool
same_state(const struct layout_field *a, const struct layout_field *b)
{
	return a->width == b->width && a->last_width == b->last_width &&
	       a->interpretation == b->interpretation &&
	       (a->interpretation == HATF_NONE ||
		(a->origin == b->origin && a->step == b->step));
}

static size_t
hash_state(const struct layout_field *f)
{
	uint64_t h = f->width + 16u * f->last_width;

	h = (h * 8 + f->interpretation) * 0x9e3779b97f4a7c15u;
	if (f->interpretation != HATF_NONE)
		h ^= (f->origin + 31 * f->step) * 0xff51afd7ed558ccdu;
	return (size_t)(h >> 20) % HASH_SIZE;
}

static void
search_add(struct search *s, const struct layout_field *field,
	   const struct layout_field *other, int cost)
{
	size_t at = hash_state(field);

	for (; s->hash[at] != 0; at = (at + 1) % HASH_SIZE) {
		struct state *const old = &s->states[s->hash[at] - 1];

		if (!same_state(&old->field, field) ||
		    !same_state(&old->other, other))
			continue;
		if (cost < old->cost) {
			old->cost = cost;
			old->is_new = true;
		}
		return;
	}
	mini_check(s->count < STATE_MAX);
	s->states[s->count++] = (struct state){ *field, *other, cost, true };
	s->hash[at] = (uint32_t)s->count;
}

static void
add_move(struct search *s, unsigned op, unsigned argument, uint64_t value,
	 uint64_t stride)
{
	const struct hatf_metadata m = {
		.op = (uint8_t)op,
		.field = (uint8_t)s->field,
		.argument = (uint8_t)argument,
		.value = value,
		.stride = stride,
	};

	for (size_t i = 0; i < s->move_count; i++)
		if (memcmp(&s->moves[i], &m, sizeof(m)) == 0)
			return;
	mini_check(s->move_count < sizeof(s->moves) / sizeof(s->moves[0]));
	s->moves[s->move_count++] = m;
}

static void
search_moves(struct search *s, const uint64_t *values, size_t n)
{
	static const uint64_t reach[] = { 0, 0x80, 0x8000, 0x80000000 };

	s->move_count = 0;
	for (unsigned width = 0; width <= 8; width = width ? 2 * width : 1)
		add_move(s, HATF_SET_FIELD_SIZE, width, 0, 0);
	add_move(s, HATF_SET_FIELD_INTERPRETATION, HATF_NONE, 0, 0);
	for (size_t i = 0; i < n; i++) {
		const uint64_t v = values[i];

		add_move(s, HATF_SET_FIELD_INTERPRETATION, HATF_DEFAULT, v, 0);
		add_move(s, HATF_SET_FIELD_INTERPRETATION, HATF_DELTA, v, 0);
		for (unsigned r = 0; r < 4; r++)
			add_move(s, HATF_SET_FIELD_INTERPRETATION,
				 HATF_BASE_OFFSET, v + reach[r], 0);
		if (i + 1 < n)
			add_move(s, HATF_SET_FIELD_INTERPRETATION, HATF_STRIDE,
				 v - (values[i + 1] - v), values[i + 1] - v);
	}
}

static bool
is_computed(const struct layout_field *f)
{
	return f->interpretation == HATF_DEFAULT ||
	       f->interpretation == HATF_STRIDE;
}

/* Apply one metadata record to state 'i'. */
static void
search_apply(struct search *s, size_t i, const struct hatf_metadata *m)
{
	static const int length[] = { 4, 12, 12, 12, 20 };
	const int cost = m->op == HATF_SET_FIELD_SIZE ? 4 : length[m->argument];
	struct layout l = { 0 }, other = { 0 };

	/* FORMAT forbids setting a width here. */
	if (m->op == HATF_SET_FIELD_SIZE && (is_computed(&s->states[i].field) ||
					     is_computed(&s->states[i].other)))
		return;
	l.field[s->field] = s->states[i].field;
	other.field[s->field] = s->states[i].other;
	layout_apply(&l, m);
	layout_apply(&other, m);
	search_add(s, &l.field[s->field], &other.field[s->field],
		   s->states[i].cost + cost);
}

/* Try all metadata of up to three records; no state needs more. */
static void
search_move(struct search *s)
{
	for (unsigned round = 0; round < 3; round++) {
		const size_t count = s->count;

		for (size_t i = 0; i < count; i++) {
			if (!s->states[i].is_new)
				continue;
			s->states[i].is_new = false;
			for (size_t k = 0; k < s->move_count; k++)
				search_apply(s, i, &s->moves[k]);
		}
	}
}

static bool
is_allowed(const struct search *s, const struct layout_field *f)
{
	const struct technique_field *const t = s->technique;
	const unsigned width =
		f->width == 0 ? TECHNIQUE_WIDTH_0 : 2u * f->width;

	switch (f->interpretation) {
	case HATF_NONE:
		return t->none & width;
	case HATF_BASE_OFFSET:
		return t->base_offset & width;
	case HATF_DELTA:
		return t->delta & width;
	case HATF_DEFAULT:
		return t->default_value;
	default:
		return t->stride;
	}
}

/*
 * Use a value.  Keep only the states that it fits and that can still become the
 * cheapest: three metadata records lead from any state to any other.
 */
static void
search_use(struct search *s, uint64_t value, bool begins_block)
{
	const size_t count = s->count;
	size_t kept = 0;
	int least = INT32_MAX;

	memset(s->hash, 0, sizeof(s->hash));
	for (size_t i = 0; i < count; i++) {
		struct state *const state = &s->states[i];

		if (!layout_fits(&state->field, value) ||
		    !is_allowed(s, &state->field) ||
		    (begins_block && !same_state(&state->field, &state->other)))
			continue;
		state->cost += state->field.nbytes;
		layout_use(&state->field, value);
		if (state->cost < least)
			least = state->cost;
		s->states[kept++] = *state;
	}
	s->count = 0;
	for (size_t i = 0; i < kept; i++) {
		const struct state state = s->states[i];

		if (state.cost <= least + 28)
			search_add(s, &state.field, &state.field, state.cost);
	}
}

static int
search_least(const struct search *s)
{
	int least = INT32_MAX;

	for (size_t i = 0; i < s->count; i++)
		if (s->states[i].cost < least)
			least = s->states[i].cost;
	return least;
}

/*
 * Return the least cost of 'values'.  A block must begin with metadata that
 * leads to the same state from 'state' and from another one, as the earlier
 * state is unknown.
 */
static int
search(unsigned field, const struct technique_field *technique,
       const struct layout_field *state, bool restart, const uint64_t *values,
       const bool *tied, size_t n)
{
	static struct search s;
	struct layout other = { 0 };

	s.field = field;
	s.technique = technique;
	s.count = 0;
	memset(s.hash, 0, sizeof(s.hash));
	search_moves(&s, values, n);
	other.field[field] = *state;
	if (restart) {
		/* No metadata leads to such a default. */
		other.field[field].interpretation = HATF_DEFAULT;
		other.field[field].origin = 0x123456789abcdefu;
		other.field[field].width = 0;
		other.field[field].last_width = state->last_width == 4 ? 2 : 4;
	}
	search_add(&s, state, &other.field[field], 0);
	for (size_t i = 0; i < n; i++) {
		if (!tied[i])
			search_move(&s);
		search_use(&s, values[i], restart && i == 0);
	}
	return search_least(&s);
}

#endif /* TESTS_SEARCH_H */
