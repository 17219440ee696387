/* SPDX-License-Identifier: MIT */
/* history.c - see history.h */
#include "tools/summary/history.h"

#include <stdlib.h>
#include <string.h>

bool
history_reach(struct history *t, uint32_t row)
{
	size_t words = t->dirty_words == 0 ? 16 : t->dirty_words;
	uint64_t *dirty;

	if (row / 64 < t->dirty_words)
		return true;
	while (words <= row / 64)
		words *= 2;
	dirty = realloc(t->dirty, words * sizeof(*dirty));
	if (dirty == NULL)
		return false;
	memset(dirty + t->dirty_words, 0,
	       (words - t->dirty_words) * sizeof(*dirty));
	t->dirty = dirty;
	t->dirty_words = words;
	return true;
}

/* ------------------------------------------------------------------- spans */

/* Merge the span 'b' into the earlier span 'a'. */
static void
merge_spans(struct span *a, const struct span *b)
{
	a->live = b->live;
	if (b->most > a->most)
		a->most = b->most;
	if (b->least < a->least)
		a->least = b->least;
	amount_sum(&a->allocated, &b->allocated);
	a->free_count += b->free_count;
}

static void
widen_spans(struct history *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->span_count; i++) {
		t->spans[i].number /= 2;
		if (n != 0 && t->spans[n - 1].number == t->spans[i].number)
			merge_spans(&t->spans[n - 1], &t->spans[i]);
		else
			t->spans[n++] = t->spans[i];
	}
	t->span_count = n;
	t->span_shift++;
}

/* ------------------------------------------------------------------ points */

/*
 * Merge the changes of point 'b' into those of the earlier point 'a'.  For a
 * stack that is in both, keep the change of 'b'.  Return false if there is no
 * memory.
 */
static bool
merge_changes(struct history *t, struct point *a, struct point *b)
{
	const size_t most = a->change_count + b->change_count;
	struct change *const all = malloc((most + 1) * sizeof(*all));
	size_t n = 0, j = 0;

	if (all == NULL)
		return false;
	/*
	 * Both lists of changes are sorted by stack, so merge them in one pass.
	 */
	for (size_t i = 0; i < a->change_count; i++) {
		while (j < b->change_count &&
		       b->changes[j].stack < a->changes[i].stack)
			all[n++] = b->changes[j++];
		if (j == b->change_count ||
		    b->changes[j].stack != a->changes[i].stack)
			all[n++] = a->changes[i];
	}
	while (j < b->change_count)
		all[n++] = b->changes[j++];
	free(a->changes);
	free(b->changes);
	a->changes = all;
	a->change_count = n;
	t->change_total -= most - n;
	return true;
}

static void
widen_points(struct history *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->point_count; i++) {
		t->points[i].number /= 2;
		if (n == 0 || t->points[n - 1].number != t->points[i].number)
			t->points[n++] = t->points[i];
		else if (!merge_changes(t, &t->points[n - 1], &t->points[i]))
			t->no_memory = true;
	}
	t->point_count = n;
	t->point_shift++;
}

static size_t
count_dirty(const struct history *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->dirty_words; i++)
		n += (size_t)__builtin_popcountll(t->dirty[i]);
	return n;
}

static size_t
points_max(const struct history *t)
{
	return t->is_fine ? FINE_POINTS_MAX : POINTS_MAX;
}

/*
 * If the live bytes of some stacks have changed since the previous point, store
 * a point that lists the new live amounts of these stacks.
 */
static void
close_point(struct history *t, const struct account_list *stacks)
{
	struct point *const p = &t->points[t->point_count];
	const size_t count = count_dirty(t);

	if (count == 0)
		return;
	p->number = (t->point_end - 1) >> t->point_shift;
	p->change_count = 0;
	p->changes = malloc(count * sizeof(*p->changes));
	if (p->changes == NULL) {
		t->no_memory = true;
		return;
	}
	for (size_t i = 0; i < t->dirty_words; i++) {
		for (uint64_t w = t->dirty[i]; w != 0; w &= w - 1) {
			const uint32_t row = (uint32_t)(i * 64) +
					     (uint32_t)__builtin_ctzll(w);
			const struct amount live = stacks->rows[row].live;

			p->changes[p->change_count++] = (struct change){
				.nbytes = live.nbytes,
				.count = live.count < UINT32_MAX
						 ? (uint32_t)live.count
						 : UINT32_MAX,
				.stack = row,
			};
		}
		t->dirty[i] = 0;
	}
	t->change_total += count;
	t->point_count++;
	/*
	 * If points have become wider, this point may belong to the same
	 * interval as the previous one.  In this case, merge the two.
	 */
	if (t->point_count > 1 && p[-1].number == p->number) {
		t->point_count--;
		if (!merge_changes(t, &p[-1], p))
			t->no_memory = true;
	}
	while (t->point_count == points_max(t) ||
	       (t->change_total > CHANGES_MAX && t->point_count > POINTS_MIN))
		widen_points(t);
}

/* ----------------------------------------------------------------- the axis */

/* Return the end of the interval of width 2^shift that contains 'at'. */
static uint64_t
end_of(uint64_t at, unsigned shift)
{
	const uint64_t end = ((at >> shift) + 1) << shift;

	/* UINT64_MAX if the sum exceeds 64 bits */
	return end > at ? end : UINT64_MAX;
}

static void
begin_span(struct history *t, uint64_t at, const struct amount *live)
{
	while (t->span_count == SPANS_MAX)
		widen_spans(t);
	while (t->point_shift < t->span_shift)
		widen_points(t);
	t->span_end = end_of(at, t->span_shift);

	const uint64_t number = at >> t->span_shift;

	/*
	 * If spans have become wider, the last span may contain 'at'.  In this
	 * case, do not begin another span.
	 */
	if (t->span_count != 0 && t->spans[t->span_count - 1].number >= number)
		return;
	t->spans[t->span_count++] = (struct span){
		.number = number,
		.most = history_level(t, live),
		.least = history_level(t, live),
	};
}

void
history_advance(struct history *t, uint64_t at,
		const struct account_list *stacks, const struct amount *live)
{
	if (t->span_count != 0)
		history_now(t)->live = *live;
	if (t->span_count != 0 && at >= t->point_end)
		close_point(t, stacks);
	begin_span(t, at, live);
	if (t->span_count == 1 || at >= t->point_end)
		t->point_end = end_of(at, t->point_shift);
}

void
history_end(struct history *t, const struct account_list *stacks,
	    const struct amount *live)
{
	if (t->span_count == 0)
		return;
	history_now(t)->live = *live;
	close_point(t, stacks);
}

static void
free_points(struct history *t)
{
	for (size_t i = 0; i < t->point_count; i++)
		free(t->points[i].changes);
	t->point_count = 0;
	t->change_total = 0;
}

void
history_restart(struct history *t, const struct account_list *stacks)
{
	free_points(t);
	t->span_count = 0;
	t->span_shift = 0;
	t->point_shift = 0;
	t->span_end = 0;
	t->point_end = 0;
	for (uint32_t row = 0; row < stacks->count; row++)
		if (stacks->rows[row].live.count != 0)
			history_mark(t, row);
}

void
history_free(struct history *t)
{
	free_points(t);
	free(t->dirty);
}
