/* SPDX-License-Identifier: MIT */
/* show_outlived.c - see show_outlived.h */
#include "tools/show/show_outlived.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Return the thread that the group 'row' stands for.  The groups 'all' must
 * have been made with BY_THREAD.
 */
static const struct census_thread *
thread_of(const struct groups *all, uint32_t row)
{
	const struct census *const c = all->census;

	return &c->threads[id_rows_find(&c->thread_rows,
					all->rows[row].number)];
}

static int
compare_outlived(const void *a, const void *b, void *ctx)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint64_t m = thread_of(ctx, x)->outlived.nbytes;
	const uint64_t n = thread_of(ctx, y)->outlived.nbytes;

	if (m != n)
		return m < n ? 1 : -1;
	return x < y ? -1 : x > y;
}

bool
show_outlived(struct out *o, const struct groups *all, uint64_t top)
{
	uint32_t *const rows = malloc((all->count + 1) * sizeof(*rows));
	uint32_t n = 0;
	char line[128];

	if (rows == NULL)
		return false;
	for (uint32_t row = 0; row < all->count; row++)
		if (thread_of(all, row)->outlived.count != 0)
			rows[n++] = row;
	qsort_r(rows, n, sizeof(*rows), compare_outlived,
		(void *)(uintptr_t)all);
	snprintf(line, sizeof(line), "\n%11s %12s  %s\n", "bytes left",
		 "blocks left",
		 "by a thread, when the recorder noticed its end");
	if (n != 0)
		show_heading(o, line);
	for (uint32_t i = 0; i < n && (top == 0 || i < top); i++) {
		const struct amount left = thread_of(all, rows[i])->outlived;

		out_printf(o, "%11s", figure_nbytes(left.nbytes).text);
		out_printf(o, " %12s  ", figure_count(left.count).text);
		show_name(o, all->rows[rows[i]].name, 26);
		out_str(o, "\n");
	}
	if (top != 0 && n > top)
		out_printf(o, "and %s more\n", figure_count(n - top).text);
	free(rows);
	return true;
}

json_t *
show_json_outlived(const struct groups *all, uint32_t row)
{
	return show_json_amount(&thread_of(all, row)->outlived);
}
