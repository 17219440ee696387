/* SPDX-License-Identifier: MIT */
/*
 * path_metadata.c - see path_metadata.h
 */
#include "hatf/optimum/path_metadata.h"

#include <assert.h>
#include <string.h>

/*
 * Can the episode have begun before the span?  It can if no block begins, and
 * the field already had the interpretation of the episode and, under
 * baseOffset, the base of the episode.
 */
static bool
is_under_way(const struct field_paths *p, const struct episode *e)
{
	return !p->restart && p->state->interpretation == e->interpretation &&
	       (e->interpretation != HATF_BASE_OFFSET ||
		p->state->origin == e->base);
}

/*
 * Return the index in 'costs_of_use' for the value of use 'i' under the
 * interpretation of 'e'.  Under delta, the result does not hold for the first
 * use of the episode.
 */
static unsigned
fits(const struct field_paths *p, const struct episode *e, size_t i)
{
	const uint64_t value = p->values[i];

	if (e->interpretation == HATF_NONE)
		return cost_fits_unsigned(value);
	if (e->interpretation == HATF_BASE_OFFSET)
		return cost_fits_signed(value - e->base);
	if (i == 0)
		return cost_fits_signed(value - p->state->origin);
	return cost_fits_signed(value - p->values[i - 1]);
}

/*
 * Step back over the gap before use 'i'.  Before the call, rest[lane] is the
 * cost from use 'i' to the end of its episode if 'lane' is the state of the
 * field at use 'i'.  After the call, rest[lane] is the cost from this gap to
 * the end of the episode if 'lane' is the state at use i - 1.  In the gap,
 * metadata changes the state if this makes the cost smaller.  Store in
 * p->choices[i][lane] the lane of the state after the gap.
 */
static void
step_back(struct field_paths *p, size_t i, int32_t *rest)
{
	uint8_t *const choice = p->choices[i];
	int32_t after[COST_LANE_COUNT];
	unsigned best = 0;

	memcpy(after, rest, sizeof(after));
	for (unsigned lane = 1; lane < COST_LANE_EMPTY; lane++)
		if (after[lane] < after[best])
			best = lane;
	for (unsigned lane = 0; lane < COST_LANE_COUNT; lane++) {
		const unsigned empty = COST_LANE_EMPTY + lane;

		choice[lane] = (uint8_t)lane;
		if (p->tied[i])
			continue;
		if (after[best] + COST_WIDTH < rest[lane]) {
			rest[lane] = after[best] + COST_WIDTH;
			choice[lane] = (uint8_t)best;
		}
		if (lane < COST_LANE_EMPTY &&
		    after[empty] + COST_WIDTH < rest[lane]) {
			rest[lane] = after[empty] + COST_WIDTH;
			choice[lane] = (uint8_t)empty;
		}
	}
}

static void
add_use(const struct field_paths *p, const struct episode *e,
	unsigned fit_count, const int32_t *rest, int32_t *sum)
{
	for (unsigned lane = 0; lane < COST_LANE_COUNT; lane++)
		sum[lane] = cost_min(
			COST_INFINITE,
			rest[lane] +
				costs_lane(&costs_of_use[fit_count], lane) +
				costs_lane(
					&p->rules.forbidden[e->interpretation],
					lane));
}

/*
 * Can the episode begin at use 'i'?  sum[lane] is the cost of the uses from 'i'
 * to the end of the episode, if the field has the state 'lane' at use 'i'.
 * 'total' is the cost in the gap after the episode.  If the episode can begin
 * at use 'i', set e->start and e->lane.
 */
static bool
begins(const struct field_paths *p, struct episode *e, size_t i,
       const int32_t *sum, int32_t total)
{
	if (p->tied[i])
		return false;

	const struct costs begin = field_paths_begin(p, i, e->interpretation);

	for (unsigned lane = 0; lane < COST_LANE_COUNT; lane++) {
		if (costs_lane(&begin, lane) + sum[lane] != total)
			continue;
		e->start = i;
		e->lane = lane;
		return true;
	}
	return false;
}

/*
 * Find the start of an episode whose uses store values.  In the gap after the
 * episode, the cost is 'total', and the field has the state 'lane'.
 */
static void
find_stored(struct field_paths *p, struct episode *e, unsigned lane,
	    int32_t total)
{
	int32_t rest[COST_LANE_COUNT], sum[COST_LANE_COUNT];

	for (unsigned l = 0; l < COST_LANE_COUNT; l++)
		rest[l] = l == lane ? 0 : COST_INFINITE;
	for (size_t i = e->end; i-- > 0;) {
		const unsigned fit_count = fits(p, e, i);
		const bool is_free = e->interpretation == HATF_DELTA;

		add_use(p, e, is_free ? 4 : fit_count, rest, sum);
		if (begins(p, e, i, sum, total))
			return;
		add_use(p, e, fit_count, rest, rest);
		step_back(p, i, rest);
	}
	assert(is_under_way(p, e) && rest[field_paths_lane(p->state)] == total);
	e->start = 0;
	e->lane = p->choices[0][field_paths_lane(p->state)];
	e->is_under_way = true;
}

/* Like find_stored(), but for an episode whose uses store nothing. */
static void
find_computed(struct field_paths *p, struct episode *e, unsigned lane,
	      int32_t total)
{
	int32_t sum[COST_LANE_COUNT];

	for (unsigned l = 0; l < COST_LANE_COUNT; l++)
		sum[l] = l == lane ? 0 : COST_INFINITE;
	for (size_t i = e->end; i-- > 0;)
		if (begins(p, e, i, sum, total))
			return;
	assert(is_under_way(p, e) && total == 0);
	e->start = 0;
	e->lane = lane;
	e->is_under_way = true;
}

/*
 * Return the index of the last nonzero width before the episode on the cheapest
 * path; FIELD_PATHS_NEVER if there is none.  With any other last nonzero width,
 * the episode may cost more than the forward pass found.
 */
static unsigned
find_last_width(const struct field_paths *p, const struct episode *e)
{
	const struct field_paths_gap *const g = &p->gaps[e->start];
	unsigned best = FIELD_PATHS_NEVER;
	int32_t least = g->never;

	if (e->lane >= COST_LANE_EMPTY)
		return field_paths_last_width(e->lane);
	for (unsigned i = 0; i < FIELD_PATHS_NEVER; i++) {
		if (g->cost[i] < least) {
			least = g->cost[i];
			best = i;
		}
	}
	return g->cost[e->lane] <= least + COST_WIDTH ? e->lane : best;
}

/*
 * Find the episode that ends before use 'end'.  'last' is the index of the last
 * nonzero width before use 'end'.
 */
static struct episode
find_episode(struct field_paths *p, size_t end, unsigned last)
{
	const struct field_paths_gap *const g = &p->gaps[end];
	const bool is_never = last == FIELD_PATHS_NEVER;
	const int32_t from = is_never ? g->never_from : g->from[last];
	const int32_t total = is_never ? g->never : g->cost[last];
	const unsigned lane =
		last + (from & FIELD_PATHS_EMPTY ? COST_LANE_EMPTY : 0);
	struct episode e = {
		.end = end,
		.interpretation = from & FIELD_PATHS_INTERPRETATION,
		.base = g->base[last],
	};

	if (field_paths_is_computed(e.interpretation))
		find_computed(p, &e, lane, total);
	else
		find_stored(p, &e, lane, total);
	e.last = find_last_width(p, &e);
	return e;
}

/*
 * Find the episodes of the cheapest path, the last one first.  Also find the
 * states at the uses of these episodes: p->choices[i] maps the lane at the
 * previous use to the lane at use 'i'.  Return the number of episodes.
 */
static size_t
find_episodes(struct field_paths *p)
{
	const struct field_paths_gap *const g = &p->gaps[p->count];
	unsigned last = 0;
	size_t end = p->count;
	size_t count = 0;

	for (unsigned i = 1; i < FIELD_PATHS_NEVER; i++)
		if (g->cost[i] < g->cost[last])
			last = i;
	if (g->never < g->cost[last])
		last = FIELD_PATHS_NEVER;
	while (end != 0) {
		const struct episode e = find_episode(p, end, last);

		p->episodes[count++] = e;
		end = e.start;
		last = e.last;
	}
	return count;
}

/* ----------------------------------------------------------------- metadata */

struct output {
	const struct field_paths *paths;
	struct place_change *next;
};

static void
put(struct output *o, size_t use, unsigned op, unsigned argument,
    uint64_t value, uint64_t stride)
{
	const struct field_paths *const p = o->paths;
	const bool begins_block = p->restart && use == 0;

	*o->next++ = (struct place_change){
		.before = begins_block ? 0 : p->records[use],
		.metadata = { .op = (uint8_t)op,
			      .field = (uint8_t)p->field,
			      .argument = (uint8_t)argument,
			      .value = value,
			      .stride = stride },
	};
}

static void
put_width(struct output *o, size_t use, unsigned lane)
{
	put(o, use, HATF_SET_FIELD_SIZE,
	    lane < COST_LANE_EMPTY ? 1u << lane : 0, 0, 0);
}

/*
 * Add the metadata that sets the interpretation of an episode, with the
 * parameters that the episode's first values require.
 */
static void
put_interpretation(struct output *o, const struct episode *e)
{
	const uint64_t *const values = &o->paths->values[e->start];
	uint64_t value = values[0];
	uint64_t stride = 0;

	if (e->interpretation == HATF_NONE)
		value = 0;
	else if (e->interpretation == HATF_BASE_OFFSET)
		value = e->base;
	else if (e->interpretation == HATF_STRIDE && e->end - e->start > 1)
		stride = values[1] - values[0];
	put(o, e->start, HATF_SET_FIELD_INTERPRETATION, e->interpretation,
	    value - stride, stride);
}

static void
put_begin(struct output *o, const struct episode *e)
{
	const bool begins_block = o->paths->restart && e->start == 0;
	const bool is_computed = field_paths_is_computed(e->interpretation);
	const unsigned last = field_paths_last_width(e->lane);
	const bool sets_last = begins_block || last != e->last;

	/*
	 * Under default and stride, no metadata may set a width.  So first set
	 * the interpretation none, and then the last width.
	 */
	if (is_computed && sets_last) {
		put(o, e->start, HATF_SET_FIELD_INTERPRETATION, HATF_NONE, 0,
		    0);
		put_width(o, e->start, last);
	}
	put_interpretation(o, e);
	if (is_computed)
		return;
	if (sets_last)
		put_width(o, e->start, last);
	if (e->lane >= COST_LANE_EMPTY && e->lane != COST_LANE_NEVER)
		put_width(o, e->start, e->lane);
}

static void
put_episode(struct output *o, const struct episode *e)
{
	const struct field_paths *const p = o->paths;
	unsigned lane = e->lane;

	if (!e->is_under_way)
		put_begin(o, e);
	else if (lane != field_paths_lane(p->state))
		put_width(o, 0, lane);
	if (field_paths_is_computed(e->interpretation))
		return;
	for (size_t i = e->start + 1; i < e->end; i++) {
		const unsigned next = p->choices[i][lane];

		if (next != lane)
			put_width(o, i, next);
		lane = next;
	}
}

/*
 * Place the metadata of a field that has no use in the span.  The field needs
 * metadata only if a block begins.
 */
static size_t
put_none(const struct field_paths *p, struct place_change *changes)
{
	struct output o = { p, changes };
	const unsigned last_width = p->state->last_width;

	if (!p->restart)
		return 0;
	put(&o, 0, HATF_SET_FIELD_INTERPRETATION, HATF_NONE, 0, 0);
	put(&o, 0, HATF_SET_FIELD_SIZE, last_width == 0 ? 1 : last_width, 0, 0);
	return (size_t)(o.next - changes);
}

size_t
path_metadata_place(struct field_paths *p, struct place_change *changes)
{
	struct output o = { p, changes };

	if (p->count == 0)
		return put_none(p, changes);
	for (size_t count = find_episodes(p); count > 0; count--)
		put_episode(&o, &p->episodes[count - 1]);
	return (size_t)(o.next - changes);
}
