/* SPDX-License-Identifier: MIT */
/* page_pairs.c - see page_pairs.h */
#include "tools/report/page_pairs.h"

#include "tools/report/page_json.h"
#include "tools/report/page_measures.h"

#include <stdlib.h>

/* A row of the table. */
struct row {
	/*
	 * rows of the thread and of the site on the page; 'site' is PAGE_NONE
	 * for all other sites together
	 */
	uint32_t thread, site;
	struct account sum;
	double score;
};

struct table {
	struct row *rows;
	uint32_t count;
};

static int
compare_rows(const void *a, const void *b)
{
	const struct row *const x = a;
	const struct row *const y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

/*
 * On the page, several threads may share a row, and so may several stacks.  Add
 * up those of the census's pairs whose threads share a row and whose stacks
 * share a row, and store each sum in 't'.  'ids', empty at first, maps the two
 * rows to the row of the sum in 't'.
 */
static bool
sum_pairs(const struct page_sites *s, const struct page_threads *threads,
	  struct id_rows *ids, struct table *t)
{
	const struct pairs *const p = s->census->pairs;

	for (uint32_t i = 0; i < p->ids.count; i++) {
		const uint32_t stack = p->rows[i].stack;
		const uint32_t thread = threads->row_of[p->rows[i].thread];
		const uint32_t site =
			stack == PAIRS_OTHERS ? PAGE_NONE : s->site_of[stack];
		const uint64_t key = (uint64_t)thread << 32 | site;
		uint32_t row = id_rows_find(ids, key);

		if (row == ID_ROWS_NONE) {
			row = id_rows_add(ids, key);
			if (row == ID_ROWS_NONE)
				return false;
			t->rows[row] =
				(struct row){ .thread = thread, .site = site };
			t->count++;
		}
		account_sum(&t->rows[row].sum, &p->accounts.rows[i],
			    s->census->epoch);
	}
	return true;
}

/*
 * Keep the PAGE_PAIRS_MAX most important rows.  Of the other rows, merge those
 * of the same thread into one.
 */
static void
fold_rows(const struct census *c, struct table *t)
{
	uint32_t others[PAGE_THREADS_MAX];
	uint32_t count = PAGE_PAIRS_MAX;

	for (uint32_t i = 0; i < t->count; i++)
		t->rows[i].score = page_score(c, &t->rows[i].sum);
	qsort(t->rows, t->count, sizeof(*t->rows), compare_rows);
	for (uint32_t i = 0; i < PAGE_THREADS_MAX; i++)
		others[i] = PAGE_NONE;
	for (uint32_t i = PAGE_PAIRS_MAX; i < t->count; i++) {
		const struct row row = t->rows[i];

		if (others[row.thread] == PAGE_NONE) {
			others[row.thread] = count;
			t->rows[count] = row;
			t->rows[count++].site = PAGE_NONE;
		} else {
			account_sum(&t->rows[others[row.thread]].sum, &row.sum,
				    c->epoch);
		}
	}
	if (t->count > count)
		t->count = count;
}

static const struct account *
row_account(const void *ctx, uint32_t row)
{
	const struct table *const t = ctx;

	return &t->rows[row].sum;
}

static void
write_table(const struct census *c, const struct table *t, struct out *o)
{
	page_put_key(o, false, "pairs");
	out_str(o, "{\"count\":");
	out_u64(o, t->count);
	for (unsigned k = 0; k < 2; k++) {
		page_put_key(o, false, k == 0 ? "thread" : "site");
		out_str(o, "[");
		for (uint32_t i = 0; i < t->count; i++) {
			const struct row *const row = &t->rows[i];

			if (i != 0)
				out_str(o, ",");
			if (k == 1 && row->site == PAGE_NONE)
				out_str(o, "-1");
			else
				out_u64(o, k == 0 ? row->thread : row->site);
		}
		out_str(o, "]");
	}
	page_put_measures(o, c, row_account, t, t->count);
	out_str(o, "}");
}

bool
page_pairs_write(const struct page_sites *s, const struct page_threads *threads,
		 struct out *o)
{
	const struct census *const c = s->census;
	struct id_rows ids = { 0 };
	struct table t = { 0 };
	bool ok;

	t.rows = calloc((size_t)c->pairs->ids.count + 1, sizeof(*t.rows));
	ok = t.rows != NULL && sum_pairs(s, threads, &ids, &t);
	if (ok) {
		fold_rows(c, &t);
		write_table(c, &t, o);
	}
	id_rows_free(&ids);
	free(t.rows);
	return ok;
}
