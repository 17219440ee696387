/* SPDX-License-Identifier: MIT */
/* groups.c - see groups.h */
#include "tools/summary/groups.h"

#include "tools/ui/escape.h"
#include "tools/ui/figure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_NBYTES 1024

bool
groups_has_stacks(const struct census *c)
{
	return c->by_stack.count > STACK_FIRST;
}

bool
groups_has_blocks(const struct census *c)
{
	return c->total.allocated.count != 0 || c->start.count != 0;
}

/* ------------------------------------------------------------------- names */

/* Return the slot of a name, or the free slot where the name belongs. */
static size_t
seek(const struct groups *g, const char *name)
{
	size_t i = seeded_hash_text(&g->hash, name) & (g->slot_count - 1);

	while (g->slots[i] != 0 &&
	       strcmp(g->rows[g->slots[i] - 1].name, name) != 0)
		i = (i + 1) & (g->slot_count - 1);
	return i;
}

static bool
grow(struct groups *g)
{
	const uint32_t cap = g->cap == 0 ? 64 : 2 * g->cap;
	struct group *const rows = realloc(g->rows, cap * sizeof(*rows));
	uint32_t *slots;

	if (rows == NULL)
		return false;
	if (g->cap == 0)
		seeded_hash_init(&g->hash);
	g->rows = rows;
	g->cap = cap;
	slots = calloc(2 * (size_t)cap, sizeof(*slots));
	if (slots == NULL)
		return false;
	free(g->slots);
	g->slots = slots;
	g->slot_count = 2 * (size_t)cap;
	for (uint32_t i = 0; i < g->count; i++)
		g->slots[seek(g, g->rows[i].name)] = i + 1;
	return true;
}

/*
 * Return the row of the group with this name; if there is none, make it.
 * Return UINT32_MAX if there is no memory.
 */
static uint32_t
find_group(struct groups *g, const char *name, uint64_t number)
{
	size_t slot;
	char *copy;

	if (g->count == g->cap && !grow(g))
		return UINT32_MAX;
	slot = seek(g, name);
	if (g->slots[slot] != 0)
		return g->slots[slot] - 1;
	copy = strdup(name);
	if (copy == NULL)
		return UINT32_MAX;
	g->rows[g->count] = (struct group){ .name = copy, .number = number };
	g->slots[slot] = ++g->count;
	return g->count - 1;
}

static void
name_thread(const struct census *c, uint32_t row, char *buf, size_t nbytes)
{
	const struct census_thread *const t = &c->threads[row];
	char name[256];

	if (t->name == NULL)
		snprintf(buf, nbytes, "thread %" PRIu64, t->id);
	else
		snprintf(buf, nbytes, "thread %" PRIu64 " (%s)", t->id,
			 escape_text(t->name, name, sizeof(name)));
}

static void
name_size(unsigned size_class, char *buf, size_t nbytes)
{
	const uint64_t end = census_class_end(size_class);

	if (size_class <= 2)
		snprintf(buf, nbytes, "%" PRIu64 " byte%s", end,
			 figure_plural(end));
	else
		snprintf(buf, nbytes, "%" PRIu64 " to %" PRIu64 " bytes",
			 census_class_end(size_class - 1) + 1, end);
}

/* ------------------------------------------------------------------- groups */

static uint32_t
group_stack(struct groups *g, struct site_names *names, uint32_t row)
{
	const uint64_t id = g->census->stack_ids[row];
	const enum site_part part = g->by == BY_STACK
					    ? SITE_PLACE
					    : (enum site_part)(g->by - BY_SITE);
	/* Room for the number and a whole name. */
	char numbered[STACK_VIEW_TEXT_NBYTES + 32];
	const char *name;

	if (row == STACK_NONE)
		name = "[no stack]";
	else if (row == STACK_INHERITED)
		name = "[inherited from the parent process]";
	else
		name = site_names_get(names, id, part);
	if (name != NULL && g->by == BY_STACK && id != 0) {
		snprintf(numbered, sizeof(numbered), "stack %" PRIu64 ": %s",
			 id, name);
		name = numbered;
	}
	return name != NULL ? find_group(g, name, id) : UINT32_MAX;
}

static uint32_t
group_lane(struct groups *g, uint32_t row)
{
	const struct lane *const lane = &g->census->lanes[row];
	char thread[NAME_NBYTES / 2], size[64], both[NAME_NBYTES];

	name_thread(g->census, lane->thread, thread, sizeof(thread));
	name_size(lane->size_class, size, sizeof(size));
	if (g->by == BY_THREAD)
		return find_group(g, thread,
				  g->census->threads[lane->thread].id);
	if (g->by == BY_SIZE)
		return find_group(g, size, lane->size_class);
	snprintf(both, sizeof(both), "%s, %s", thread, size);
	return find_group(g, both, 0);
}

static uint32_t
group_heap(struct groups *g, uint32_t row)
{
	const uint64_t id = g->census->heap_ids[row];
	char name[64];

	snprintf(name, sizeof(name), "heap %" PRIu64, id);
	return find_group(g, name, id);
}

/* Return the accounts that the groups sum up. */
static const struct account_list *
source_of(const struct groups *g)
{
	if (g->of_stacks)
		return &g->census->by_stack;
	return g->by == BY_HEAP ? &g->census->by_heap : &g->census->by_lane;
}

/* Has the account counted any block? */
static bool
is_used(const struct groups *g, const struct account *a)
{
	return a->live.count != 0 || a->allocated.count != 0 ||
	       a->freed.count != 0 ||
	       account_at_peak(a, g->census->epoch).count != 0;
}

bool
groups_make(struct groups *g, const struct census *c, struct site_names *names,
	    enum group_by by)
{
	const struct account_list *list;

	*g = (struct groups){
		.census = c,
		.by = by,
		.of_stacks = by <= BY_STACK && groups_has_stacks(c),
	};
	list = source_of(g);
	g->group_of = calloc(list->count, sizeof(*g->group_of));
	if (g->group_of == NULL)
		return false;
	for (uint32_t row = 0; row < list->count; row++) {
		const struct account *const a = &list->rows[row];
		uint32_t group;

		g->group_of[row] = GROUP_NONE;
		if (!is_used(g, a))
			continue;
		if (g->of_stacks)
			group = group_stack(g, names, row);
		else if (by == BY_HEAP)
			group = group_heap(g, row);
		else
			group = group_lane(g, row);
		if (group == UINT32_MAX)
			return false;
		g->group_of[row] = group;
		g->rows[group].stack_count++;
		account_sum(&g->rows[group].sum, a, c->epoch);
	}
	return true;
}

void
groups_free(struct groups *g)
{
	for (uint32_t i = 0; i < g->count; i++)
		free(g->rows[i].name);
	free(g->rows);
	free(g->group_of);
	free(g->slots);
	*g = (struct groups){ 0 };
}

uint32_t
groups_of_block(const struct groups *g, const struct live_block *block,
		uint32_t heap)
{
	if (g->of_stacks)
		return g->group_of[block->stack];
	return g->group_of[g->by == BY_HEAP ? heap : block->lane_plus_1 - 1];
}

/* ------------------------------------------------------------------ sorting */

struct amount
groups_amount(const struct census *c, const struct account *a,
	      enum group_key key)
{
	switch (key) {
	case KEY_PEAK:
		return account_at_peak(a, c->epoch);
	case KEY_LIVE:
		return a->live;
	case KEY_TEMPORARY:
		return a->temporary;
	case KEY_MOVED:
		return a->moved;
	case KEY_FREED:
		return a->freed;
	default:
		return a->allocated;
	}
}

uint64_t
groups_value(const struct census *c, const struct account *account,
	     enum group_key key)
{
	const struct amount a = groups_amount(c, account, key);

	return key == KEY_ALLOCATIONS || key == KEY_TEMPORARY ||
			       key == KEY_MOVED
		       ? a.count
		       : a.nbytes;
}

/* What qsort_r() passes to compare(). */
struct sorting {
	const struct groups *groups;
	enum group_key key;
};

static int
compare(const void *a, const void *b, void *ctx)
{
	const struct sorting *const s = ctx;
	const struct group *const x = &s->groups->rows[*(const uint32_t *)a];
	const struct group *const y = &s->groups->rows[*(const uint32_t *)b];
	const uint64_t m = groups_value(s->groups->census, &x->sum, s->key);
	const uint64_t n = groups_value(s->groups->census, &y->sum, s->key);

	if (m != n)
		return m < n ? 1 : -1;
	if (x->sum.live.nbytes != y->sum.live.nbytes)
		return x->sum.live.nbytes < y->sum.live.nbytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

uint32_t *
groups_sort(const struct groups *g, enum group_key key, bool all,
	    uint32_t *n_ret)
{
	struct sorting sorting = { g, key };
	uint32_t *const order = malloc((g->count + 1) * sizeof(*order));
	uint32_t n = 0;

	if (order == NULL)
		return NULL;
	for (uint32_t i = 0; i < g->count; i++)
		if (all ||
		    groups_amount(g->census, &g->rows[i].sum, key).count != 0)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), compare, &sorting);
	*n_ret = n;
	return order;
}
