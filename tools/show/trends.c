/* SPDX-License-Identifier: MIT */
/* trends.c - see trends.h */
#include "tools/show/trends.h"

#include <stdlib.h>

/* Return the length of the axis, from its start to the last event. */
static uint64_t
axis_length(const struct census *c)
{
	const uint64_t last = c->has_times ? c->last.time : c->last.event;

	return last > c->axis_start ? last - c->axis_start : 0;
}

/* Return the start of the window on the axis. */
static uint64_t
axis_first(const struct census *c)
{
	const uint64_t first = c->has_times ? c->first.time : c->first.event;

	return first > c->axis_start ? first - c->axis_start : 0;
}

uint64_t
trends_moment(const struct census *c, unsigned i)
{
	const uint64_t first = axis_first(c);
	const double part = (double)(axis_length(c) - first) / TREND_COUNT;

	return i == TREND_COUNT - 1 ? axis_length(c)
				    : first + (uint64_t)(part * (i + 1));
}

/*
 * Does the middle of the interval of point 'p' come after 'moment'?  If so,
 * 'moment' is nearer to the start of the interval than to its end, so use the
 * live bytes before the interval, not those at its end.
 */
static bool
is_after(const struct history *h, const struct point *p, uint64_t moment)
{
	const uint64_t half = ((uint64_t)1 << h->point_shift) / 2;

	/* The sum is below the end of the interval, so it cannot overflow. */
	return (p->number << h->point_shift) + half > moment;
}

static void
judge(struct trend *t)
{
	unsigned since = TREND_COUNT - 1;
	unsigned rises = 0, last_rise = 0;

	while (since > 0 && t->nbytes[since - 1] <= t->nbytes[since])
		since--;
	/* Let 'since' be the last part before the first rise. */
	while (since + 1 < TREND_COUNT &&
	       t->nbytes[since + 1] == t->nbytes[since])
		since++;
	for (unsigned i = since + 1; i < TREND_COUNT; i++) {
		if (t->nbytes[i] > t->nbytes[i - 1]) {
			rises++;
			last_rise = i;
		}
	}
	t->since = since;
	t->grows = rises >= 3 && 2 * rises >= TREND_COUNT - 1 - since &&
		   last_rise + 3 >= TREND_COUNT;
}

struct trend *
trends_find(const struct groups *g)
{
	const struct census *const c = g->census;
	const struct history *const h = &c->history;
	struct trend *const trends = calloc(g->count + 1, sizeof(*trends));
	uint64_t *const now = calloc(g->count + 1, sizeof(*now));
	uint64_t *const stacks = calloc(c->by_stack.count, sizeof(*stacks));
	size_t next = 0;

	for (unsigned i = 0;
	     i < TREND_COUNT && trends != NULL && now != NULL && stacks != NULL;
	     i++) {
		const uint64_t moment = trends_moment(c, i);

		for (; next < h->point_count; next++) {
			const struct point *const p = &h->points[next];

			if (i < TREND_COUNT - 1 && is_after(h, p, moment))
				break;
			for (size_t j = 0; j < p->change_count; j++) {
				const struct change *const ch = &p->changes[j];

				if (g->group_of[ch->stack] != GROUP_NONE)
					now[g->group_of[ch->stack]] +=
						ch->nbytes - stacks[ch->stack];
				stacks[ch->stack] = ch->nbytes;
			}
		}
		for (uint32_t row = 0; row < g->count; row++)
			trends[row].nbytes[i] = now[row];
	}
	if (now == NULL || stacks == NULL) {
		free(now);
		free(stacks);
		free(trends);
		return NULL;
	}
	for (uint32_t row = 0; trends != NULL && row < g->count; row++)
		judge(&trends[row]);
	free(now);
	free(stacks);
	return trends;
}
