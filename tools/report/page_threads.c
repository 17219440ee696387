/* SPDX-License-Identifier: MIT */
/* page_threads.c - see page_threads.h */
#include "tools/report/page_threads.h"

#include "tools/report/page_json.h"
#include "tools/report/page_measures.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the matrix: one for each thread, then one for live blocks. */
#define TO_MAX (PAGE_THREADS_MAX + 1)

/* ---------------------------------------------------------------- choosing */

/* A thread and the bytes that it allocated. */
struct share {
	uint64_t nbytes;
	uint32_t row;
};

static int
compare_shares(const void *a, const void *b)
{
	const struct share *const x = a;
	const struct share *const y = b;

	if (x->nbytes != y->nbytes)
		return x->nbytes < y->nbytes ? 1 : -1;
	return x->row < y->row ? -1 : 1;
}

/*
 * Give each thread a row of its own.  If there are too many threads, only those
 * that allocated most get rows of their own; all others share the last row.
 */
static bool
choose_threads(struct page_threads *t)
{
	const struct census *const c = t->census;
	const uint32_t all = c->thread_rows.count;
	struct share *const shares = calloc(all + 1, sizeof(*shares));

	if (shares == NULL)
		return false;
	for (uint32_t i = 0; i < all; i++)
		shares[i].row = i;
	for (uint32_t i = 0; i < c->by_lane.count; i++)
		shares[c->lanes[i].thread].nbytes +=
			c->by_lane.rows[i].allocated.nbytes;
	t->has_rest = all > PAGE_THREADS_MAX;
	t->count = t->has_rest ? PAGE_THREADS_MAX : all;
	if (t->has_rest)
		qsort(shares, all, sizeof(*shares), compare_shares);
	for (uint32_t i = all; i-- > 0;) {
		const uint32_t row = i < t->count ? i : t->count - 1;

		t->row_of[shares[i].row] = row;
		t->first[row] = shares[i].row;
	}
	free(shares);
	return true;
}

bool
page_threads_make(struct page_threads *t, const struct census *c)
{
	const uint32_t all = c->thread_rows.count + 1;

	*t = (struct page_threads){ .census = c };
	t->row_of = calloc(all, sizeof(*t->row_of));
	t->first = calloc(all, sizeof(*t->first));
	t->sums = calloc(all, sizeof(*t->sums));
	if (t->row_of == NULL || t->first == NULL || t->sums == NULL ||
	    !choose_threads(t))
		return false;
	for (uint32_t i = 0; i < c->by_lane.count; i++)
		account_sum(&t->sums[t->row_of[c->lanes[i].thread]],
			    &c->by_lane.rows[i], c->epoch);
	return true;
}

void
page_threads_free(struct page_threads *t)
{
	free(t->row_of);
	free(t->first);
	free(t->sums);
}

/* ----------------------------------------------------------------- threads */

/* Do several threads share this row? */
static bool
is_rest(const struct page_threads *t, uint32_t row)
{
	return t->has_rest && row == t->count - 1;
}

static void
begin_column(struct out *o, const char *key, uint32_t row)
{
	if (row != 0) {
		out_str(o, ",");
		return;
	}
	page_put_key(o, false, key);
	out_str(o, "[");
}

static void
end_column(struct out *o, const char *key, uint32_t count)
{
	if (count == 0)
		begin_column(o, key, 0);
	out_str(o, "]");
}

static void
write_names(const struct page_threads *t, struct page_tree *tree, struct out *o)
{
	const struct census *const c = t->census;

	for (uint32_t i = 0; i < t->count; i++) {
		begin_column(o, "id", i);
		if (is_rest(t, i))
			out_str(o, "-1");
		else
			out_u64(o, c->threads[t->first[i]].id);
	}
	end_column(o, "id", t->count);
	for (uint32_t i = 0; i < t->count; i++) {
		begin_column(o, "name", i);
		out_u64(o,
			page_tree_text(tree,
				       is_rest(t, i)
					       ? "other threads"
					       : c->threads[t->first[i]].name));
	}
	end_column(o, "name", t->count);
}

/*
 * Write the member "start" or, if 'is_end', the member "end": the times at
 * which the threads began or ended.
 */
static void
write_lives(const struct page_threads *t, const struct page_sights *sights,
	    struct out *o, bool is_end)
{
	const char *const key = is_end ? "end" : "start";
	const struct census *const c = t->census;

	for (uint32_t i = 0; i < t->count; i++) {
		struct page_life life = { PAGE_NEVER, PAGE_NEVER };

		begin_column(o, key, i);
		if (!is_rest(t, i))
			page_sights_life(sights, c->threads[t->first[i]].id,
					 &life);
		page_put_time(o, c, is_end ? life.end : life.start);
	}
	end_column(o, key, t->count);
}

static void
write_outlived(const struct page_threads *t, struct out *o)
{
	const struct census *const c = t->census;

	for (uint32_t i = 0; i < t->count; i++) {
		begin_column(o, "outlivedBytes", i);
		out_u64(o, is_rest(t, i)
				   ? 0
				   : c->threads[t->first[i]].outlived.nbytes);
	}
	end_column(o, "outlivedBytes", t->count);
	for (uint32_t i = 0; i < t->count; i++) {
		begin_column(o, "outlivedBlocks", i);
		out_u64(o, is_rest(t, i)
				   ? 0
				   : c->threads[t->first[i]].outlived.count);
	}
	end_column(o, "outlivedBlocks", t->count);
}

static const struct account *
thread_account(const void *ctx, uint32_t row)
{
	const struct page_threads *const t = ctx;

	return &t->sums[row];
}

/* ------------------------------------------------------------------ matrix */

static void
put_cells(const struct page_threads *t, struct out *o,
	  const struct amount *cells, const char *key, int what)
{
	bool first = true;

	page_put_key(o, what == 0, key);
	out_str(o, "[");
	for (uint32_t i = 0; i < t->count * TO_MAX; i++) {
		const uint32_t to = i % TO_MAX;

		if (cells[i].count == 0)
			continue;
		if (!first)
			out_str(o, ",");
		first = false;
		if (what == 0)
			out_u64(o, i / TO_MAX);
		else if (what == 1 && to == PAGE_THREADS_MAX)
			out_str(o, "-1");
		else
			out_u64(o, what == 1   ? to
				   : what == 2 ? cells[i].count
					       : cells[i].nbytes);
	}
	out_str(o, "]");
}

static void
write_matrix(const struct page_threads *t, struct out *o)
{
	const struct census *const c = t->census;
	struct amount *const cells =
		calloc((size_t)t->count * TO_MAX + 1, sizeof(*cells));

	if (cells == NULL)
		return;
	for (uint32_t i = 0; i < t->count; i++) {
		cells[i * TO_MAX + i] = t->sums[i].freed;
		cells[i * TO_MAX + PAGE_THREADS_MAX] = t->sums[i].live;
	}
	for (uint32_t i = 0; i < c->crossing_rows.count; i++) {
		const struct crossing *const x = &c->crossings[i];
		const uint32_t from = t->row_of[x->from];
		struct amount *const own = &cells[from * TO_MAX + from];

		own->count -= x->freed.count;
		own->nbytes -= x->freed.nbytes;
		amount_sum(&cells[from * TO_MAX + t->row_of[x->to]], &x->freed);
	}
	page_put_key(o, false, "matrix");
	out_str(o, "{");
	put_cells(t, o, cells, "from", 0);
	put_cells(t, o, cells, "to", 1);
	put_cells(t, o, cells, "blocks", 2);
	put_cells(t, o, cells, "bytes", 3);
	out_str(o, "}");
	free(cells);
}

void
page_threads_write(const struct page_threads *t, struct page_tree *tree,
		   const struct page_sights *sights, struct out *o)
{
	page_put_key(o, false, "threads");
	out_str(o, "{\"count\":");
	out_u64(o, t->count);
	write_names(t, tree, o);
	write_lives(t, sights, o, false);
	write_lives(t, sights, o, true);
	page_put_measures(o, t->census, thread_account, t, t->count);
	write_outlived(t, o);
	out_str(o, "}");
	write_matrix(t, o);
}
