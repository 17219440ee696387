/* SPDX-License-Identifier: MIT */
/* comparison.c - see comparison.h */
#include "tools/compare/comparison.h"

#include "hatf/frames/hidden_frames.h"
#include "tools/compare/portable_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
comparison_init(struct comparison *c, enum group_by by, unsigned old_count,
		unsigned new_count)
{
	*c = (struct comparison){ .by = by,
				  .old_count = old_count,
				  .new_count = new_count };
	seeded_hash_init(&c->hash);
}

void
comparison_fini(struct comparison *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		free(c->rows[i].name);
		free(c->rows[i].runs);
	}
	free(c->rows);
	free(c->slots);
	free(c->total.runs);
}

/* --------------------------------------------------------------------- rows */

/* Return the slot of 'name' or, if 'name' is new, the free slot for it. */
static uint32_t *
seek(const struct comparison *c, const char *name)
{
	size_t i = seeded_hash_text(&c->hash, name) & (c->slot_count - 1);

	while (c->slots[i] != 0 &&
	       strcmp(c->rows[c->slots[i] - 1].name, name) != 0)
		i = (i + 1) & (c->slot_count - 1);
	return &c->slots[i];
}

static bool
grow(struct comparison *c)
{
	const uint32_t cap = c->cap == 0 ? 64 : 2 * c->cap;
	struct comparison_row *const rows =
		reallocarray(c->rows, cap, sizeof(*rows));
	uint32_t *slots;

	if (rows == NULL)
		return false;
	c->rows = rows;
	slots = calloc(2 * (size_t)cap, sizeof(*slots));
	if (slots == NULL)
		return false;
	free(c->slots);
	c->slots = slots;
	c->slot_count = 2 * (size_t)cap;
	c->cap = cap;
	for (uint32_t i = 0; i < c->count; i++)
		*seek(c, c->rows[i].name) = i + 1;
	return true;
}

static struct measured *
make_runs(const struct comparison *c)
{
	return calloc(c->old_count + c->new_count, sizeof(struct measured));
}

/*
 * Return the row of a name, adding one if the name is new; NULL if there is no
 * memory.
 */
static struct comparison_row *
put_row(struct comparison *c, const char *name)
{
	struct comparison_row row = { .name = NULL };
	uint32_t *slot;

	if (c->count == c->cap && !grow(c))
		return NULL;
	slot = seek(c, name);
	if (*slot != 0)
		return &c->rows[*slot - 1];
	row.name = strdup(name);
	row.runs = make_runs(c);
	if (row.name == NULL || row.runs == NULL) {
		free(row.name);
		free(row.runs);
		return NULL;
	}
	c->rows[c->count] = row;
	*slot = ++c->count;
	return &c->rows[c->count - 1];
}

static bool
add_account(struct comparison *c, const struct census *census, const char *name,
	    const struct account *account)
{
	struct comparison_row *const row = put_row(c, name);
	const struct measured what = measure_account(census, account);

	if (row == NULL)
		return false;
	measured_sum(&row->runs[c->added_count], &what);
	return true;
}

void
comparison_name_site(const struct gathering *g, uint64_t stack, char *buf,
		     size_t nbytes)
{
	const struct hatf_stacks *const stacks = g->census->stacks;
	struct hatf_frame frame = { .function = NULL };
	struct hatf_stack top;

	if (hatf_stacks_get(stacks, site_names_top(g->names, stack), &top))
		hatf_stacks_get_frame(stacks, top.frame, &frame);
	/*
	 * If all frames of a stack are hidden, the site is a hidden frame.  If
	 * this frame is in a standard library, its function and file may depend
	 * on whether the library's debug information is installed.  Therefore
	 * name the site by the library alone.
	 */
	if (frame.object != NULL && site_names_hides(g->names, &frame) &&
	    hidden_frames_find_std_library(frame.object) != NULL)
		frame.function = frame.file = NULL;
	portable_site_name(&frame, buf, nbytes);
}

/* Are all measures of the account 0? */
static bool
is_empty(const struct census *census, const struct account *account)
{
	const struct measured m = measure_account(census, account);
	bool is_zero = true;

	for (int i = 0; i < MEASURE_COUNT; i++)
		is_zero &= m.values[i] == 0;
	return is_zero;
}

static bool
add_sites(struct comparison *c, const struct gathering *g)
{
	const struct census *const census = g->census;
	char name[COMPARISON_NAME_NBYTES];

	for (uint32_t i = 0; i < census->by_stack.count; i++) {
		const char *text = name;

		/*
		 * The rows below STACK_FIRST are for blocks without a stack and
		 * for inherited blocks.  Skip such a row if it counts no
		 * blocks.
		 */
		if (i < STACK_FIRST &&
		    is_empty(census, &census->by_stack.rows[i]))
			continue;
		if (i == STACK_NONE)
			text = "[no stack]";
		else if (i == STACK_INHERITED)
			text = "[inherited from the parent process]";
		else
			comparison_name_site(g, census->stack_ids[i], name,
					     sizeof(name));
		if (!add_account(c, census, text, &census->by_stack.rows[i]))
			return false;
	}
	return true;
}

/*
 * Add each thread to the row of its name.  If a thread has no name, add it to
 * the row of its number.
 */
static bool
add_threads(struct comparison *c, const struct census *census,
	    const struct groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		const struct group *const group = &groups->rows[i];
		/* A group's name is "thread 3" or "thread 3 (worker)". */
		const char *const bracket = strchr(group->name, '(');
		char name[COMPARISON_NAME_NBYTES];

		snprintf(name, sizeof(name), "thread %s",
			 bracket != NULL ? bracket : group->name + 7);
		if (!add_account(c, census, name, &group->sum))
			return false;
	}
	return true;
}

static bool
add_groups(struct comparison *c, const struct gathering *g)
{
	struct groups groups = { 0 };
	bool ok = groups_make(&groups, g->census, g->names, c->by);

	if (ok && c->by == BY_THREAD && c->merges_threads)
		ok = add_threads(c, g->census, &groups);
	else
		for (uint32_t i = 0; ok && i < groups.count; i++)
			ok = add_account(c, g->census, groups.rows[i].name,
					 &groups.rows[i].sum);
	groups_free(&groups);
	return ok;
}

bool
comparison_put(struct comparison *c, const char *name, unsigned run,
	       const struct measured *values)
{
	struct comparison_row *const row =
		name != NULL ? put_row(c, name) : &c->total;

	if (row == NULL)
		return false;
	if (row->runs == NULL)
		row->runs = make_runs(c);
	if (row->runs == NULL)
		return false;
	row->runs[run] = *values;
	return true;
}

bool
comparison_add(struct comparison *c, const struct gathering *g)
{
	const bool has_stacks = groups_has_stacks(g->census);
	const struct measured total =
		measure_account(g->census, &g->census->total);
	bool ok;

	if (!comparison_put(c, NULL, c->added_count, &total))
		return false;
	ok = c->by == BY_SITE && has_stacks ? add_sites(c, g)
					    : add_groups(c, g);
	c->has_stacks |= has_stacks;
	c->lacks_stacks |= !has_stacks && g->census->total.allocated.count != 0;
	c->added_count++;
	return ok;
}

/* ----------------------------------------------------------------- segments */

/* Return the index of the segment in which the program has its highest peak. */
static unsigned
find_peak(const struct comparison *c)
{
	unsigned found = 0;

	for (unsigned i = 1; i < c->new_count; i++)
		if (c->total.runs[i].values[MEASURE_PEAK] >
		    c->total.runs[found].values[MEASURE_PEAK])
			found = i;
	return found;
}

struct measured
comparison_combine(const struct comparison *c, const struct comparison_row *row)
{
	const struct measured *const last = &row->runs[c->new_count - 1];
	struct measured sum = row->runs[0];

	for (unsigned i = 1; i < c->new_count; i++)
		measured_sum(&sum, &row->runs[i]);
	sum.values[MEASURE_PEAK] = row->runs[find_peak(c)].values[MEASURE_PEAK];
	sum.values[MEASURE_LIVE] = last->values[MEASURE_LIVE];
	return sum;
}

bool
comparison_add_segments(struct comparison *c, const struct comparison *segments)
{
	struct measured m = comparison_combine(segments, &segments->total);

	if (!comparison_put(c, NULL, c->added_count, &m))
		return false;
	for (uint32_t i = 0; i < segments->count; i++) {
		m = comparison_combine(segments, &segments->rows[i]);
		if (!comparison_put(c, segments->rows[i].name, c->added_count,
				    &m))
			return false;
	}
	c->has_stacks |= segments->has_stacks;
	c->lacks_stacks |= segments->lacks_stacks;
	c->added_count++;
	return true;
}

/* ------------------------------------------------------------------ verdict */

static struct verdict_side
make_side(const struct measured *runs, unsigned count, enum measure measure)
{
	uint64_t values[COMPARISON_TRACES_MAX];

	for (unsigned i = 0; i < count; i++)
		values[i] = runs[i].values[measure];
	return verdict_side_make(values, count);
}

static void
judge_row(const struct comparison *c, struct comparison_row *row,
	  const uint64_t *totals, const struct verdict_options *options)
{
	const struct measured *const news = row->runs + c->old_count;

	row->is_new = row->is_gone = true;
	for (int i = 0; i < MEASURE_COUNT; i++) {
		struct contrast *const k = &row->contrasts[i];
		double share;

		k->old_side =
			make_side(row->runs, c->old_count, (enum measure)i);
		k->new_side = make_side(news, c->new_count, (enum measure)i);
		k->verdict = verdict_judge(&k->old_side, &k->new_side,
					   totals[i], options);
		row->is_new &= k->old_side.max == 0;
		row->is_gone &= k->new_side.max == 0;
		if (k->verdict == VERDICT_SAME || totals[i] == 0)
			continue;
		share = ((double)k->new_side.median -
			 (double)k->old_side.median) /
			(double)totals[i];
		if (share < 0)
			share = -share;
		if (share > row->weight)
			row->weight = share;
	}
}

bool
comparison_judge(struct comparison *c, const struct verdict_options *options)
{
	uint64_t totals[MEASURE_COUNT];

	if (c->total.runs == NULL)
		return false;
	for (int i = 0; i < MEASURE_COUNT; i++) {
		const struct verdict_side all =
			make_side(c->total.runs, c->old_count + c->new_count,
				  (enum measure)i);

		totals[i] = all.max;
	}
	judge_row(c, &c->total, totals, options);
	for (uint32_t i = 0; i < c->count; i++)
		judge_row(c, &c->rows[i], totals, options);
	return true;
}

bool
comparison_has_changed(const struct comparison_row *row)
{
	for (int i = 0; i < MEASURE_COUNT; i++)
		if (row->contrasts[i].verdict != VERDICT_SAME)
			return true;
	return false;
}

/* -------------------------------------------------------------------- order */

/* The context of compare_rows(), which orders rows for qsort_r(). */
struct sorting {
	const struct comparison *comparison;
	enum measure key;
};

static double
growth(const struct comparison_row *row, enum measure key)
{
	const struct contrast *const k = &row->contrasts[key];

	return (double)k->new_side.median - (double)k->old_side.median;
}

static int
compare_rows(const void *a, const void *b, void *ctx)
{
	const struct sorting *const s = ctx;
	const struct comparison_row *const x =
		&s->comparison->rows[*(const uint32_t *)a];
	const struct comparison_row *const y =
		&s->comparison->rows[*(const uint32_t *)b];
	const bool x_changed = comparison_has_changed(x);
	const bool y_changed = comparison_has_changed(y);
	double x_value, y_value;

	if (x_changed != y_changed)
		return x_changed ? -1 : 1;
	if (s->key == MEASURE_COUNT) {
		x_value = x->weight;
		y_value = y->weight;
	} else {
		x_value = growth(x, s->key);
		y_value = growth(y, s->key);
	}
	if (x_value != y_value)
		return x_value > y_value ? -1 : 1;
	return strcmp(x->name, y->name);
}

uint32_t *
comparison_sort(const struct comparison *c, enum measure key, bool all,
		uint32_t *n_ret)
{
	struct sorting sorting = { c, key };
	uint32_t *const order = malloc((c->count + 1) * sizeof(*order));
	uint32_t n = 0;

	if (order == NULL)
		return NULL;
	for (uint32_t i = 0; i < c->count; i++)
		if (all || comparison_has_changed(&c->rows[i]))
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), compare_rows, &sorting);
	*n_ret = n;
	return order;
}
