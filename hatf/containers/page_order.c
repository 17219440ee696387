/* SPDX-License-Identifier: MIT */
/* page_order.c - see page_order.h */
#include "hatf/containers/page_order.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_PAGES 64

/*
 * Maximum number of groups in a run.  A full run takes 4 KiB.  The first run of
 * a set starts smaller, since there may be many small sets.
 */
#define RUN_MAX 256
#define RUN_MIN 4

void
page_order_fini(struct page_order *order)
{
	for (size_t i = 0; i < order->count; i++)
		free(order->runs[i].groups);
	free(order->runs);
	*order = (struct page_order){ 0 };
}

/*
 * Return the index of the run that contains the group 'number'.  If no run
 * contains this group, return the index of the run to which it must be added.
 * Precondition: there is a run.
 */
static size_t
seek_run(const struct page_order *order, uint64_t number)
{
	size_t low = 0, high = order->count;

	while (high - low > 1) {
		const size_t mid = (low + high) / 2;

		if (number < order->runs[mid].first)
			high = mid;
		else
			low = mid;
	}
	return low;
}

/*
 * Return the index of the run's first group whose number is at least 'number'.
 * If there is no such group, return 'count' of the run.
 */
static unsigned
seek_group(const struct page_run *run, uint64_t number)
{
	unsigned low = 0, high = run->count;

	while (low < high) {
		const unsigned mid = (low + high) / 2;

		if (run->groups[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool
has_group(const struct page_run *run, unsigned i, uint64_t number)
{
	return i < run->count && run->groups[i].number == number;
}

/* ------------------------------------------------------------------- adding */

/* Insert an empty run at 'i'.  Return false if there is no memory. */
static bool
insert_run(struct page_order *order, size_t i, unsigned cap)
{
	struct page_run run = { .cap = cap };

	if (order->count == order->cap) {
		const size_t more = order->cap == 0 ? 1 : 2 * order->cap;
		struct page_run *const runs =
			reallocarray(order->runs, more, sizeof(*runs));

		if (runs == NULL)
			return false;
		order->runs = runs;
		order->cap = more;
	}
	run.groups = calloc(cap, sizeof(*run.groups));
	if (run.groups == NULL)
		return false;
	memmove(&order->runs[i + 1], &order->runs[i],
		(order->count - i) * sizeof(run));
	order->runs[i] = run;
	order->count++;
	return true;
}

static bool
grow_run(struct page_run *run)
{
	struct page_group *const groups =
		reallocarray(run->groups, 2 * run->cap, sizeof(*groups));

	if (groups == NULL)
		return false;
	run->groups = groups;
	run->cap *= 2;
	return true;
}

/*
 * Split run 'r', which is full, so that the caller can insert a group at '*at'.
 * Move the second half of the groups of run 'r' into a new run, which comes
 * after run 'r'.  But if the caller's group belongs at the end of run 'r', as
 * when a heap grows upwards, move nothing: the new run is for the caller's
 * group alone.  Return the run to which the caller's group then belongs, and
 * set '*at' to the index of the group in that run.  Return NULL if there is no
 * memory.
 */
static struct page_run *
split_run(struct page_order *order, size_t r, unsigned *at)
{
	const unsigned keep = *at == RUN_MAX ? RUN_MAX : RUN_MAX / 2;
	struct page_run *run, *next;

	if (!insert_run(order, r + 1, RUN_MAX))
		return NULL;
	run = &order->runs[r];
	next = run + 1;
	next->count = run->count - keep;
	memcpy(next->groups, &run->groups[keep],
	       next->count * sizeof(next->groups[0]));
	next->first = next->groups[0].number;
	run->count = keep;
	if (*at < keep)
		return run;
	*at -= keep;
	return next;
}

/*
 * Make room for a group at index '*at' of run 'r'.  Return the run to which the
 * group belongs afterwards, and set '*at' to the index of the group in that
 * run.  Return NULL if there is no memory.
 */
static struct page_run *
make_room(struct page_order *order, size_t r, unsigned *at)
{
	struct page_run *const run = &order->runs[r];

	if (run->count == RUN_MAX)
		return split_run(order, r, at);
	return run->count < run->cap || grow_run(run) ? run : NULL;
}

bool
page_order_add(struct page_order *order, uint64_t page)
{
	const struct page_group group = {
		.number = page / GROUP_PAGES,
		.pages = (uint64_t)1 << page % GROUP_PAGES,
	};
	struct page_run *run;

	if (order->count == 0 && !insert_run(order, 0, RUN_MIN))
		return false;

	const size_t r = seek_run(order, group.number);
	unsigned i = seek_group(&order->runs[r], group.number);

	if (has_group(&order->runs[r], i, group.number)) {
		order->runs[r].groups[i].pages |= group.pages;
		return true;
	}
	run = make_room(order, r, &i);
	if (run == NULL)
		return false;
	memmove(&run->groups[i + 1], &run->groups[i],
		(run->count - i) * sizeof(group));
	run->groups[i] = group;
	run->count++;
	run->first = run->groups[0].number;
	return true;
}

/* ----------------------------------------------------------------- removing */

static void
remove_run(struct page_order *order, size_t r)
{
	free(order->runs[r].groups);
	order->count--;
	memmove(&order->runs[r], &order->runs[r + 1],
		(order->count - r) * sizeof(order->runs[0]));
}

void
page_order_remove(struct page_order *order, uint64_t page)
{
	const uint64_t number = page / GROUP_PAGES;
	const size_t r = seek_run(order, number);
	struct page_run *const run = &order->runs[r];
	const unsigned i = seek_group(run, number);

	run->groups[i].pages &= ~((uint64_t)1 << page % GROUP_PAGES);
	if (run->groups[i].pages != 0)
		return;
	run->count--;
	memmove(&run->groups[i], &run->groups[i + 1],
		(run->count - i) * sizeof(run->groups[0]));
	if (run->count == 0)
		remove_run(order, r);
	else
		run->first = run->groups[0].number;
}

/* --------------------------------------------------------------- neighbours */

static uint64_t
first_page(const struct page_group *group, uint64_t pages)
{
	return group->number * GROUP_PAGES + (unsigned)__builtin_ctzll(pages);
}

static uint64_t
last_page(const struct page_group *group, uint64_t pages)
{
	return group->number * GROUP_PAGES + 63u -
	       (unsigned)__builtin_clzll(pages);
}

bool
page_order_before(const struct page_order *order, uint64_t page,
		  uint64_t *page_ret)
{
	const uint64_t number = page / GROUP_PAGES;
	const uint64_t lower = ((uint64_t)1 << page % GROUP_PAGES) - 1;
	const struct page_group *group;

	if (order->count == 0)
		return false;

	const size_t r = seek_run(order, number);
	const struct page_run *const run = &order->runs[r];
	const unsigned i = seek_group(run, number);

	if (has_group(run, i, number) && (run->groups[i].pages & lower) != 0) {
		*page_ret = last_page(&run->groups[i],
				      run->groups[i].pages & lower);
		return true;
	}
	if (i == 0 && r == 0)
		return false;
	group = i != 0 ? &run->groups[i - 1]
		       : &run[-1].groups[run[-1].count - 1];
	*page_ret = last_page(group, group->pages);
	return true;
}

bool
page_order_after(const struct page_order *order, uint64_t page,
		 uint64_t *page_ret)
{
	const uint64_t number = page / GROUP_PAGES;
	const uint64_t higher = ~(uint64_t)1 << page % GROUP_PAGES;
	const struct page_group *group;

	if (order->count == 0)
		return false;

	const size_t r = seek_run(order, number);
	const struct page_run *const run = &order->runs[r];
	unsigned i = seek_group(run, number);

	if (has_group(run, i, number)) {
		if ((run->groups[i].pages & higher) != 0) {
			*page_ret = first_page(&run->groups[i],
					       run->groups[i].pages & higher);
			return true;
		}
		i++;
	}
	if (i == run->count && r + 1 == order->count)
		return false;
	group = i < run->count ? &run->groups[i] : &run[1].groups[0];
	*page_ret = first_page(group, group->pages);
	return true;
}
