/* SPDX-License-Identifier: MIT */
/* ages.c - see ages.h */
#include "tools/show/ages.h"

#include <stdlib.h>

/* The birth of a live block. */
struct birth {
	uint64_t event, time, size;
	uint32_t group;
	bool is_older; /* the block is older than the trace */
};

struct collection {
	const struct groups *groups;
	struct birth *births;
	size_t count, cap;
};

static bool
collect(void *ctx, const struct hatf_live *live)
{
	struct collection *const c = ctx;
	const struct census *const census = c->groups->census;
	const struct live_block *const block = census_find_live(census, live);

	uint32_t group;

	if (block == NULL)
		return true;
	group = groups_of_block(c->groups, block,
				id_rows_find(&census->heap_rows, live->heap));
	if (group == GROUP_NONE)
		return true;
	if (c->count == c->cap) {
		const size_t cap = c->cap == 0 ? 1024 : 2 * c->cap;
		struct birth *const births =
			realloc(c->births, cap * sizeof(*births));

		if (births == NULL)
			return false;
		c->births = births;
		c->cap = cap;
	}
	c->births[c->count++] = (struct birth){
		.event = live->birth_event,
		.time = live->object != 0 ? live->birth_time
					  : census->first.time,
		.size = live->size,
		.group = group,
		.is_older = live->object == 0 || live->carried,
	};
	return true;
}

static int
compare(const void *a, const void *b)
{
	const struct birth *const x = a;
	const struct birth *const y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	/*
	 * Blocks that are older than the trace come first.  Their 'event' is 0,
	 * as for a block of the trace's first event.
	 */
	return y->is_older - x->is_older;
}

static struct age
age_of(const struct census *c, const struct birth *birth)
{
	/* The number of the last event.  Events are numbered from 0. */
	const uint64_t last = c->last.event > 0 ? c->last.event - 1 : 0;

	return (struct age){
		.events = last > birth->event ? last - birth->event : 0,
		.time = c->last.time > birth->time ? c->last.time - birth->time
						   : 0,
	};
}

/*
 * Return the ages of one group.  Its blocks' births are in [first, end), the
 * oldest first.
 */
static struct ages
summarize(const struct census *c, const struct birth *first,
	  const struct birth *end)
{
	const size_t count = (size_t)(end - first);
	struct ages ages = {
		.oldest = age_of(c, first),
		.newest = age_of(c, end - 1),
		.median = age_of(c, first + (count - 1) / 2),
		.count = count,
		.smallest = first->size,
	};

	for (const struct birth *b = first; b < end; b++) {
		ages.older_count += b->is_older;
		if (b->size < ages.smallest)
			ages.smallest = b->size;
		if (b->size > ages.largest)
			ages.largest = b->size;
	}
	return ages;
}

struct ages *
ages_find(const struct groups *g, const struct hatf_events *events)
{
	struct collection c = { .groups = g };
	struct ages *ages = calloc(g->count + 1, sizeof(*ages));

	if (ages == NULL || !hatf_events_visit_live(events, collect, &c)) {
		free(c.births);
		free(ages);
		return NULL;
	}
	if (c.count != 0)
		qsort(c.births, c.count, sizeof(*c.births), compare);
	for (size_t i = 0, end; i < c.count; i = end) {
		const uint32_t group = c.births[i].group;

		for (end = i; end < c.count && c.births[end].group == group;)
			end++;
		ages[group] =
			summarize(g->census, c.births + i, c.births + end);
	}
	free(c.births);
	return ages;
}
